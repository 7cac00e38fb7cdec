"""The pause of automatic suggestions, in one client or everywhere.

"Everywhere" is a file, so that all servers of the user see it, also those that are started later.
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
    """The pause as one client sees it.

    Args:
        on_change: Called when a look at the file finds another state: another client may have paused or resumed.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._is_paused_here = False
        self._known_scope: Scope | None = None
        self._has_looked = False

    @property
    def known_scope(self) -> Scope | None:
        """Where suggestions were paused at the last look at the file, or None."""
        if not self._has_looked:
            self._known_scope, self._has_looked = self._read_scope(), True
        return self._known_scope

    def look(self) -> Scope | None:
        """Return where suggestions are paused now, or None. This reads the disk, so call it once for a request."""
        before = self._known_scope
        self._known_scope, self._has_looked = self._read_scope(), True
        if self._known_scope != before:
            self._on_change()
        return self._known_scope

    def set(self, scope: Scope, *, on: bool) -> None:
        """Pause or resume suggestions.

        To resume in one scope ends the other pause too, because the user wants suggestions here.

        Raises:
            FileError: The file of the pause cannot be written or removed.
        """
        if scope == "here" or not on:
            self._is_paused_here = on
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

    def _read_scope(self) -> Scope | None:
        if is_regular_file(_file()):
            return "everywhere"
        return "here" if self._is_paused_here else None


def _file() -> Path:
    return paths.state_folder() / "paused"
