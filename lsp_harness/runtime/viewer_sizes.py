"""The size of a terminal with several viewers: that of the viewer who typed last, as tmux does it by default."""

import asyncio
from typing import Protocol

Size = tuple[int, int]
"""Columns and rows."""
MAX_SIDE = 1000
"""Maximum number of rows and of columns."""


class SizedTerminal(Protocol):
    """A terminal whose size can be changed."""

    @property
    def size(self) -> Size:
        """The present size."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """Change the size."""
        ...


class ViewerSize:
    """The size of one viewer. Close it when the viewer goes.

    Args:
        group: The sizes of all viewers of the terminal.
        size: The size of the terminal when the viewer comes.
    """

    def __init__(self, group: "ViewerSizes", size: Size) -> None:
        self.wanted: Size | None = None
        """The size of the window of the viewer, or None until it tells one."""
        self._shown = size
        self._group = group
        self._changed = asyncio.Event()

    def request(self, columns: int, rows: int) -> None:
        """Tell the size of the window of this viewer. The terminal takes it if the viewer is new, or typed last."""
        is_new = self.wanted is None
        self.wanted = self._shown = limit_size(columns, rows)
        if is_new:
            self._group.prefer(self)
        else:
            self._group.follow()
        self.notify()

    def note_typing(self) -> None:
        """Let the terminal take the size of this viewer, because its user typed."""
        if self.wanted:
            self._group.prefer(self)

    def notify(self) -> None:
        """Let the viewer compare its size with that of the terminal."""
        self._changed.set()

    async def wait_for_change(self) -> Size:
        """Return the size of the terminal as soon as it differs from the one that the viewer shows."""
        while self._shown == self._group.present:
            self._changed.clear()
            await self._changed.wait()
        self._shown = self._group.present
        return self._shown

    def close(self) -> None:
        """Leave. The terminal takes the size of the viewer who typed last before."""
        self._group.leave(self)


class ViewerSizes:
    """The sizes of all viewers of a terminal.

    Args:
        terminal: The terminal.
    """

    def __init__(self, terminal: SizedTerminal) -> None:
        self._terminal = terminal
        self._members: list[ViewerSize] = []

    @property
    def present(self) -> Size:
        """The size of the terminal."""
        return self._terminal.size

    def join(self) -> ViewerSize:
        """Return the size of a new viewer."""
        member = ViewerSize(self, self.present)
        self._members.insert(0, member)
        return member

    def prefer(self, member: ViewerSize) -> None:
        """Let the terminal take the size of a viewer."""
        self._members.remove(member)
        self._members.append(member)
        self.follow()

    def leave(self, member: ViewerSize) -> None:
        """Forget the size of a viewer that has left."""
        if member in self._members:
            self._members.remove(member)
            self.follow()

    def follow(self) -> None:
        """Give the terminal the size of the viewer who typed last, and keep its size if no viewer has one."""
        wanted = next((member.wanted for member in reversed(self._members) if member.wanted), None)
        if wanted:
            self._terminal.resize(*wanted)

    def announce(self) -> None:
        """Tell all viewers that the terminal has another size."""
        for member in self._members:
            member.notify()


def limit_size(columns: int, rows: int) -> tuple[int, int]:
    """Return a size that a terminal can have."""
    return max(2, min(columns, MAX_SIDE)), max(2, min(rows, MAX_SIDE))
