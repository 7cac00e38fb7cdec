"""Which files are kept from the model altogether, and why: the one place that every feature asks.

Such a file is in no prompt and no index, nothing is warmed or written to disk for it, and the session log does not know it.
A link is judged by its own name and by where it leads, and every URI by the paths that are in it: a cell of an ignored notebook, an
ignored file as a commit has it, or one that a window on another machine shows is no less ignored.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsp_harness.files.folders import file_names, files_shown_as
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.secrets import is_secret_path
from lsp_harness.text.uri import local_path, mentioned_paths, unescaped_paths

SECRET_REASON = "a file for secrets, by its name"


class PrivateFiles:
    """Of the workspace folders `roots`, which may change."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._ignores = IgnoreFiles(roots)

    def why(self, uri: str, path: str = "") -> str:
        """What the file is (`ignored by .gitignore`); empty where it is not kept. `path` is another name of it."""
        file = local_path(uri)
        said = [str(file)] if file else []
        said += [name for name in mentioned_paths(uri) if name not in said]
        said += [name for name in unescaped_paths(uri) if name not in said and os.path.lexists(name)]
        for name in (path, *said):
            if name and is_secret_path(name):
                return SECRET_REASON
        for found in dict.fromkeys(one for name in said for one in self._files(name)):
            if is_secret_path(str(found)):
                return SECRET_REASON
            if by := self._ignores.ignoring_file(found):
                return f"ignored by {by}"
        return ""

    def in_workspace(self, path: str) -> bool:
        """Whether a file by its path in a workspace folder is kept."""
        return any(self.why((root / path).as_uri(), path) for root in self._roots)

    def _files(self, name: str) -> Iterator[Path]:
        """The files of this machine that a path may name."""
        if name.startswith("/"):
            named = [Path(name)]
        else:
            # a name alone is that of a text that was never saved, unless there is such a file
            named = [root / name for root in self._roots if "/" in name or os.path.lexists(root / name)]
        for file in named:
            for each in (file, *files_shown_as(file)):
                yield from file_names(each, self._roots)
