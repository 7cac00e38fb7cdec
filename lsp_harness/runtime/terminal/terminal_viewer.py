"""Viewers of a terminal. Each has its own bounded queue.

A terminal of a desktop makes its program wait as long as it draws. So does this one, as long as a viewer has a full
queue, because a viewer that reads must get everything. A viewer that leaves its queue full for `STALL_LIMIT_S` is
dropped, so that one that does not read disturbs nobody for longer.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Protocol

MAX_PENDING_BYTES = 1_000_000
"""Number of bytes that wait for one viewer before the program has to wait."""
STALL_LIMIT_S = 2.0
"""Time for which the program waits for a viewer before that viewer is dropped."""


class SlowViewer(Exception):
    """A viewer does not read its output, so that it was dropped."""


class PausableOutput(Protocol):
    """The output of a program, which waits while nobody reads it."""

    def pause(self) -> None:
        """Stop reading the output of the program."""
        ...

    def resume(self) -> None:
        """Read the output of the program again."""
        ...


class TerminalViewer(AsyncIterator[bytes]):
    """The output of a terminal for one viewer: first the screen as it is, then all that follows.

    No chunk is cut within an escape sequence or a character. The iteration ends with the program.

    Attributes:
        is_dropped: Whether the viewer was dropped because it did not read.

    Raises:
        SlowViewer: The viewer is too slow.
    """

    def __init__(self, snapshot: bytes, group: "ViewerGroup") -> None:
        self._chunks: deque[bytes] = deque([snapshot])
        self._size = len(snapshot)
        self._group = group
        self._changed = asyncio.Event()
        self._has_ended = False
        self.is_dropped = False
        self._changed.set()

    @property
    def is_full(self) -> bool:
        """Return whether more output must wait."""
        return self._size > MAX_PENDING_BYTES

    def add(self, data: bytes) -> None:
        """Give the viewer the next output."""
        self._chunks.append(data)
        self._size += len(data)
        self._changed.set()

    def drop(self) -> None:
        """Forget all that waits. The next read raises `SlowViewer`."""
        self.is_dropped = True
        self._drop_output()
        self._changed.set()

    def end(self) -> None:
        """Tell the viewer that there is no more output."""
        self._has_ended = True
        self._changed.set()

    def close(self) -> None:
        """End this viewer. Its reader gets no more output."""
        self._drop_output()
        self._group.remove(self)
        self.end()

    async def __anext__(self) -> bytes:
        """Return all output that waits, as one chunk. The first one is the screen as it was at the start."""
        while not self._chunks:
            if self.is_dropped:
                raise SlowViewer
            if self._has_ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        data = b"".join(self._chunks)
        self._drop_output()
        self._group.note_read()
        return data

    def _drop_output(self) -> None:
        self._chunks.clear()
        self._size = 0


class ViewerGroup:
    """All viewers of one terminal, and the pauses that they cause.

    Args:
        output: The output of the program.
    """

    def __init__(self, output: PausableOutput) -> None:
        self._output = output
        self._viewers: set[TerminalViewer] = set()
        self._stall_timer: asyncio.TimerHandle | None = None

    def attach(self, snapshot: bytes) -> TerminalViewer:
        """Return a new viewer that begins with a snapshot of the screen."""
        viewer = TerminalViewer(snapshot, self)
        self._viewers.add(viewer)
        return viewer

    def remove(self, viewer: TerminalViewer) -> None:
        """Remove a viewer of the terminal."""
        self._viewers.discard(viewer)
        self.note_read()

    def add(self, data: bytes) -> None:
        """Give all viewers the next output, and make the program wait if one of them is full."""
        for viewer in self._viewers:
            viewer.add(data)
        if not self._stall_timer and any(viewer.is_full for viewer in self._viewers):
            self._output.pause()
            self._stall_timer = asyncio.get_running_loop().call_later(STALL_LIMIT_S, self._drop_full)

    def note_read(self) -> None:
        """Let the program go on if no viewer is full."""
        if self._stall_timer and not any(viewer.is_full for viewer in self._viewers):
            self._stall_timer.cancel()
            self._stall_timer = None
            self._output.resume()

    def end(self) -> None:
        """Tell all viewers that there is no more output."""
        viewers, self._viewers = self._viewers, set()
        self.note_read()
        for viewer in viewers:
            viewer.end()

    def _drop_full(self) -> None:
        for viewer in [viewer for viewer in self._viewers if viewer.is_full]:
            viewer.drop()
            self.remove(viewer)
