"""The interface of terminal emulators."""

from collections.abc import Sequence
from typing import Protocol

HISTORY_LINES = 10_000
"""Number of lines that a screen remembers after they scrolled out of sight."""
SNAPSHOT_LINES = 1_000
"""Number of such lines in a snapshot."""


class Screen(Protocol):
    """The emulated screen of a terminal."""

    @property
    def columns(self) -> int:
        """The width."""
        ...

    @property
    def lines(self) -> int:
        """The height."""
        ...

    @property
    def title(self) -> str:
        """The title that the program set. It has no control characters."""
        ...

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor, from 0 on."""
        ...

    @property
    def is_alternate(self) -> bool:
        """The program draws on the second screen, which has no history."""
        ...

    def has_mode(self, mode: int) -> bool:
        """Return whether a private mode is on, such as bracketed paste (2004)."""
        ...

    def feed(self, data: bytes) -> None:
        """Show the next output. It must not end within a sequence or a character."""
        ...

    def rows(self) -> list[str]:
        """Return the visible rows, without blanks at their ends."""
        ...

    def backgrounds(self, row: int) -> list[str]:
        """Return the background of each column of a row, to be compared with each other. A reversed cell has the
        colour of its text."""
        ...

    def history(self, count: int) -> Sequence[str]:
        """Return the last lines that scrolled out of sight, at most `count`."""
        ...

    def snapshot(self) -> bytes:
        """Return bytes that make a terminal of the same size show the same: text, styles, cursor and modes."""
        ...

    def resize(self, columns: int, lines: int) -> None:
        """Change the size."""
        ...

    def close(self) -> None:
        """Free the memory. The screen cannot be used afterwards."""
        ...


def scroll_into_history(lines: int, rows: int) -> bytes:
    """Return the bytes that make a terminal scroll lines out of sight which were just printed, each with its end.

    Args:
        lines: The number of the lines.
        rows: The height of the terminal.
    """
    return f"\x1b[{rows};1H".encode() + b"\n" * min(lines, rows - 1)
