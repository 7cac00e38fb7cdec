"""Viewers of a terminal. Each has its own bounded queue, so that one that does not read disturbs nobody."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

MAX_PENDING_BYTES = 4_000_000
"""Number of bytes that may wait for one viewer. A viewer that is slower than that is dropped."""


class SlowViewer(Exception):
    """A viewer does not read its output, so that it was dropped."""


class TerminalViewer(AsyncIterator[bytes]):
    """The output of a terminal for one viewer: first the screen as it is, then all that follows.

    No chunk is cut within an escape sequence or a character. The iteration ends with the program.

    Raises:
        SlowViewer: The viewer is too slow.
    """

    def __init__(self, snapshot: bytes, forget: Callable[["TerminalViewer"], None]) -> None:
        self._chunks: deque[bytes] = deque([snapshot])
        self._size = len(snapshot)
        self._forget = forget
        self._changed = asyncio.Event()
        self._has_ended = False
        self.is_dropped = False
        self._changed.set()

    def add(self, data: bytes) -> None:
        """Give the viewer the next output."""
        self._chunks.append(data)
        self._size += len(data)
        if self._size > MAX_PENDING_BYTES:
            self.is_dropped = True
            self._chunks.clear()
            self._forget(self)
        self._changed.set()

    def end(self) -> None:
        """Tell the viewer that there is no more output."""
        self._has_ended = True
        self._changed.set()

    def close(self) -> None:
        """Stop viewing."""
        self._forget(self)
        self._chunks.clear()
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
        self._chunks.clear()
        self._size = 0
        return data
