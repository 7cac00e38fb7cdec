"""The two directions of a terminal: the input that waits, and the output that is read, of which the newest is kept."""

import asyncio
import errno
import os
from collections import deque
from collections.abc import Callable

MAX_RING_BYTES = 2_000_000


class OutputRing:
    """The newest bytes of an output.

    Attributes:
        end: The number of bytes of the whole output.
    """

    def __init__(self, limit: int = MAX_RING_BYTES) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.end = 0

    @property
    def start(self) -> int:
        """The place of the oldest byte that is remembered."""
        return self.end - self._size

    def append(self, data: bytes) -> None:
        """Add the next bytes, and forget the oldest ones."""
        # many small chunks would need much more memory than their bytes
        if self._chunks and len(self._chunks[-1]) + len(data) <= 4096:
            self._chunks[-1] += data
        else:
            self._chunks.append(data)
        self._size += len(data)
        self.end += len(data)
        while self._size > self._limit and len(self._chunks) > 1:
            self._size -= len(self._chunks.popleft())

    def read(self, since: int = 0) -> tuple[int, bytes]:
        """Return the bytes from a place on, and the place of the first one, which is later if they are forgotten."""
        data = b"".join(self._chunks)
        first = min(max(since, self.start), self.end)
        return first, data[first - self.start :]


READ_BYTES = 4096
READS_AT_ONCE = 4
"""Number of reads before other work of the event loop goes on. The kernel gives up to 4,095 bytes at a time."""
MAX_INPUT_BYTES = 1_000_000
"""Number of bytes that may wait for a program that does not read."""


class TerminalInput:
    """The input of one terminal.

    Args:
        descriptor: The terminal. It does not block.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = bytearray()
        self._loop = asyncio.get_running_loop()
        self._is_closed = False

    def add(self, data: bytes) -> bool:
        """Type bytes. Return whether they were taken: not all of them are if too many wait already."""
        if self._is_closed or len(self._pending) + len(data) > MAX_INPUT_BYTES:
            return False
        self._pending += data
        if self._pending:
            self._write()
        return True

    def close(self) -> None:
        """Drop the input that was not written yet."""
        self._is_closed = True
        self._pending.clear()
        self._loop.remove_writer(self._descriptor)

    def _write(self) -> None:
        try:
            written = os.write(self._descriptor, self._pending)
        except BlockingIOError:
            written = 0
        except OSError:
            # the program has ended, and nobody reads this
            written = len(self._pending)
        del self._pending[:written]
        if self._pending:
            self._loop.add_writer(self._descriptor, self._write)
        else:
            self._loop.remove_writer(self._descriptor)


class ProgramOutput:
    """The output of one terminal.

    Attributes:
        ended: Is set when all output was read, or nobody reads it any more.

    Args:
        descriptor: The terminal. It does not block.
        receive: Receives each piece of output.
    """

    def __init__(self, descriptor: int, receive: Callable[[bytes], None]) -> None:
        self._descriptor = descriptor
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self._loop.add_reader(descriptor, self._read)

    def close(self) -> None:
        """Stop reading the output of the program."""
        if not self.ended.is_set():
            self._loop.remove_reader(self._descriptor)
            self.ended.set()

    def pause(self) -> None:
        """Stop reading for a while. A program that prints more than the system keeps has to wait."""
        if not self.ended.is_set():
            self._loop.remove_reader(self._descriptor)

    def resume(self) -> None:
        """Go on reading after a pause."""
        if not self.ended.is_set():
            self._loop.add_reader(self._descriptor, self._read)

    def _read(self) -> None:
        chunks: list[bytes] = []
        for _ in range(READS_AT_ONCE):
            try:
                chunk = os.read(self._descriptor, READ_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                # EIO: no process has the terminal open
                if error.errno != errno.EIO:
                    raise
                chunk = b""
            if not chunk:
                self.close()
                break
            chunks.append(chunk)
        if chunks:
            self._receive(b"".join(chunks))
