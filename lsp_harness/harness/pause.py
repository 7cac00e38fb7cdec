"""Whether suggestions may come by themselves: not while the user has paused them in this window, or everywhere.

"Everywhere" is a file, so that every server of this user sees it, those that are started later too.
"""

from contextlib import suppress
from pathlib import Path
from typing import Literal

from lsp_harness.config import paths

Scope = Literal["here", "everywhere"]


class Pause:
    """`scope` looks at the file each time: another window may have made or removed it."""

    def __init__(self) -> None:
        self._here = False

    @property
    def scope(self) -> Scope | None:
        if _file().exists():
            return "everywhere"
        return "here" if self._here else None

    def set(self, scope: Scope, *, on: bool) -> None:
        """Taking back either ends the other as well: whoever resumes wants suggestions here."""
        if scope == "here" or not on:
            self._here = on
        if scope == "everywhere" and on:
            _file().touch(mode=0o600)
        elif not on:
            with suppress(FileNotFoundError):
                _file().unlink()


def _file() -> Path:
    return paths.state() / "paused"
