"""The output of a program, read into a stream of asyncio from a pipe that something else has opened.

The event loop of Windows reads only pipes that it has opened itself. There, a thread reads.
"""

import asyncio
import sys
import threading
from contextlib import suppress
from typing import IO, Protocol

PIECE_BYTES = 65_536


class OpenPipe(Protocol):
    """A pipe that is read."""

    def close(self) -> None:
        """Stop reading, and close the pipe."""
        ...


async def read_pipe(pipe: IO[bytes], stream: asyncio.StreamReader) -> OpenPipe:
    """Read a pipe to its end, and give the bytes to a stream."""
    if sys.platform == "win32":
        return PipeThread(pipe, stream)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), pipe
    )
    return transport


class PipeThread:
    """A thread that reads a pipe for an event loop."""

    def __init__(self, pipe: IO[bytes], stream: asyncio.StreamReader) -> None:
        """Begin to read for the running event loop."""
        self._pipe = pipe
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        # it ends with its pipe, and must not keep this process
        threading.Thread(target=self._read, name="read_pipe", daemon=True).start()

    def close(self) -> None:
        """Give no more bytes to the stream. The thread ends when the other end of the pipe is closed."""
        self._is_closed = True
        self._feed(b"")

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._pipe as pipe:
            # a raw read returns what is there
            while not self._is_closed and (piece := _read_some(pipe)):
                self._call(piece)
        self._call(b"")

    def _call(self, piece: bytes) -> None:
        # the loop may be closed
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._feed, piece)

    def _feed(self, piece: bytes) -> None:
        if piece and not self._is_closed:
            self._stream.feed_data(piece)
        elif not self._stream.at_eof():
            self._stream.feed_eof()


def _read_some(pipe: IO[bytes]) -> bytes:
    read1 = getattr(pipe, "read1", pipe.read)
    return read1(PIECE_BYTES) or b""
