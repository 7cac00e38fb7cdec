"""Which files are kept from the model altogether, and why: the one place that every feature asks.

Such a file is in no prompt and no index, nothing is warmed or written to disk for it, and the session log does not know it.
A link is judged by its own name and by where it leads.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.files.ignores import Ignores
from lsp_harness.files.secrets import secret_path
from lsp_harness.text.uri import local_path


class Kept:
    """Of the workspace folders `roots`, which may change."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._ignores = Ignores(roots)

    def why(self, uri: str, path: str = "") -> str:
        """What the file is (`ignored by .gitignore`); empty where it is not kept.

        `path` is looked at where the URI names no file of this machine.
        """
        file = local_path(uri)
        if file is None:
            return "secret by its name" if secret_path(path) else ""
        for name in (file, *_target(file)):
            if secret_path(str(name)):
                return "secret by its name"
            if by := self._ignores.by(name):
                return f"ignored by {by}"
        return ""


def _target(file: Path) -> list[Path]:
    try:
        real = Path(os.path.realpath(file))
    except (OSError, ValueError):
        return []
    return [real] if real != file else []
