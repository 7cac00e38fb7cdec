"""The transport over the standard streams.

pygls changes threads several times for each message that it reads and blocks the event loop for each message that it
writes. Here both ends are asyncio pipes, and there is a thread only for files that asyncio cannot poll (a regular
file). The streams move to private descriptors first: descriptor 0 becomes /dev/null and 1 becomes stderr. So neither a
stray `print`, nor a C library, nor a child process can disturb the messages.
"""

import asyncio
import logging
import os
import stat
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue

from lsp_harness.server.transport.transport import WRITE_BUFFER_BYTES, ByteSink, FramedStream

log = logging.getLogger(__name__)

MAX_LINE_BYTES = 2**24


async def open_stdio() -> FramedStream:
    """Move the standard streams to private descriptors and return a transport over them."""
    input_fd, output_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    await _feed_reader(reader, input_fd)
    sink = await _PipeSink.open(output_fd) if _is_pollable_output(input_fd, output_fd) else _ThreadSink(output_fd)
    return FramedStream(reader, sink, strict=False)


def _is_pollable(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _is_pollable_output(input_fd: int, output_fd: int) -> bool:
    """Return whether asyncio can write to the output.

    To notice that a socket closes, asyncio also reads from it. So it must not be the socket that we read from.
    """
    return _is_pollable(output_fd) and not os.path.samestat(os.fstat(input_fd), os.fstat(output_fd))


async def _feed_reader(reader: asyncio.StreamReader, fd: int) -> None:
    loop = asyncio.get_running_loop()
    if _is_pollable(fd):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0))
        return

    def read_all() -> None:
        with suppress(RuntimeError):  # if the loop is closed, the server has ended, and this thread ends too
            while data := os.read(fd, 2**16):
                loop.call_soon_threadsafe(reader.feed_data, data)
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=read_all, name="stdin", daemon=True).start()


class _PipeSink(asyncio.BaseProtocol):
    """The writing end of a pipe. Bytes that the client has not read yet wait in memory, up to a limit."""

    def __init__(self) -> None:
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._is_closed = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None

    @classmethod
    async def open(cls, fd: int) -> ByteSink:
        transport, sink = await asyncio.get_running_loop().connect_write_pipe(cls, os.fdopen(fd, "wb", buffering=0))
        transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        sink._transport = transport
        return sink

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed.set()
        self._can_write.set()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        await self._can_write.wait()

    async def aclose(self) -> None:
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(2):
                await self._is_closed.wait()
        except TimeoutError:
            self._transport.abort()


class _ThreadSink:
    """The writing end of a file that asyncio cannot poll. A thread writes the queued bytes."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._write_queue, name="stdout", daemon=True).start()

    def _write_queue(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._fd, view) :]
        except OSError as error:
            log.warning("the client does not read the standard output any more: %s", error)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._done.set)

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    async def drain(self) -> None: ...

    async def aclose(self) -> None:
        self._queue.put(None)
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self._done.wait()
