"""The files that are kept from the model, with the reason. Every feature asks this module.

Such a file is in no prompt, no index and no session log, and nothing is evaluated in advance or written to disk for it.
A link is private if its own name or its target is private. A URI is private if one of the paths in it is, so a cell of
an ignored notebook, an ignored file in a commit and an ignored file on another machine are private too.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsp_harness.files.folders import find_files_shown_as, list_file_names
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.secrets import is_secret_path
from lsp_harness.text.uri import local_path, mentioned_paths, unescaped_paths

SECRET_REASON = "a file for secrets, by its name"


class PrivateFiles:
    """The private files of the workspace folders `roots`. The sequence may change while this object is used."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._ignores = IgnoreFiles(roots)

    def reason(self, uri: str, path: str = "") -> str:
        """Return why a file is private, for example `ignored by .gitignore`. It is empty if the file is not private.

        Args:
            uri: The URI of the file.
            path: Another name of the same file.
        """
        file = local_path(uri)
        names = [str(file)] if file else []
        names += [name for name in mentioned_paths(uri) if name not in names]
        names += [name for name in unescaped_paths(uri) if name not in names and os.path.lexists(name)]
        for name in (path, *names):
            if name and is_secret_path(name):
                return SECRET_REASON
        for candidate in dict.fromkeys(file for name in names for file in self._find_files(name)):
            if is_secret_path(str(candidate)):
                return SECRET_REASON
            if ignore_file := self._ignores.ignoring_file(candidate):
                return f"ignored by {ignore_file}"
        return ""

    def is_private(self, path: str) -> bool:
        """Return whether a file is private in any workspace folder. `path` is relative to the folder."""
        return any(self.reason((root / path).as_uri(), path) for root in self._roots)

    def _find_files(self, name: str) -> Iterator[Path]:
        """Yield the files of this machine that a path may name."""
        if name.startswith("/"):
            files = [Path(name)]
        else:
            # a name without a folder belongs to a text that was never saved, unless there is such a file
            files = [root / name for root in self._roots if "/" in name or os.path.lexists(root / name)]
        for file in files:
            for candidate in (file, *find_files_shown_as(file)):
                yield from list_file_names(candidate, self._roots)
