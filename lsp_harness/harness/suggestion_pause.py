"""Whether suggestions may come by themselves: not while the user has paused them in this window, or everywhere.

"Everywhere" is a file, so that every server of this user sees it, those that are started later too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import is_regular_file, system_message
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import FileError

Scope = Literal["here", "everywhere"]


class Pause:
    """`changed` is called when a look finds something else than the one before: another window may have said so."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._here = False
        self._seen: Scope | None = None
        self._looked = False

    @property
    def seen(self) -> Scope | None:
        """What the last look found, at no cost."""
        if not self._looked:
            self._seen, self._looked = self._scope(), True
        return self._seen

    def look(self) -> Scope | None:
        """What holds now; a look at the disk, once for a request."""
        before = self._seen
        self._seen, self._looked = self._scope(), True
        if self._seen != before:
            self._changed()
        return self._seen

    def set(self, scope: Scope, *, on: bool) -> None:
        """Taking back either ends the other as well: whoever resumes wants suggestions here."""
        if scope == "here" or not on:
            self._here = on
        if scope == "everywhere" and on:
            try:
                remove_irregular_file(_file()).touch(mode=0o600)
            except OSError as error:
                raise FileError(
                    f"{_file()} cannot be written ({system_message(error)}); {paths.STATE.advice}"
                ) from error
        elif not on:
            try:
                _file().unlink(missing_ok=True)
            except OSError as error:
                raise FileError(f"{_file()} cannot be removed ({system_message(error)}); remove it yourself") from error

    def _scope(self) -> Scope | None:
        if is_regular_file(_file()):
            return "everywhere"
        return "here" if self._here else None


def _file() -> Path:
    return paths.state_folder() / "paused"
