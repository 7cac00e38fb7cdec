"""The standard streams as a wire.

pygls hops to a thread several times for each message it reads and blocks the event loop on each it writes; here both
ends are asyncio pipes, with a thread only for what asyncio cannot poll (a regular file). The wire moves to private
descriptors first: descriptor 0 becomes /dev/null and 1 becomes stderr, so that neither a stray print, nor a C library,
nor a child process can touch it.
"""

import asyncio
import logging
import os
import stat
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue

from lsp_harness.server.transport.framing import HIGH_WATER, Framed, Sink

log = logging.getLogger(__name__)

LINE_LIMIT = 2**24


async def open_stdio() -> Framed:
    wire_in, wire_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    await _read(reader, wire_in)
    sink = await _PipeSink.open(wire_out) if _writable(wire_in, wire_out) else _ThreadSink(wire_out)
    return Framed(reader, sink, strict=False)


def _pollable(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _writable(wire_in: int, wire_out: int) -> bool:
    """asyncio also reads from a socket it writes to, to see it close; so it must not be the one we read from."""
    return _pollable(wire_out) and not os.path.samestat(os.fstat(wire_in), os.fstat(wire_out))


async def _read(reader: asyncio.StreamReader, fd: int) -> None:
    loop = asyncio.get_running_loop()
    if _pollable(fd):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0))
        return

    def pump() -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended, and so does this thread
            while data := os.read(fd, 2**16):
                loop.call_soon_threadsafe(reader.feed_data, data)
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=pump, name="stdin", daemon=True).start()


class _PipeSink(asyncio.BaseProtocol):
    """The writing end of a pipe; what the client does not read yet waits in memory, up to a limit."""

    def __init__(self) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._lost = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None

    @classmethod
    async def open(cls, fd: int) -> Sink:
        transport, sink = await asyncio.get_running_loop().connect_write_pipe(cls, os.fdopen(fd, "wb", buffering=0))
        transport.set_write_buffer_limits(high=HIGH_WATER)
        sink._transport = transport
        return sink

    def pause_writing(self) -> None:
        self._flowing.clear()

    def resume_writing(self) -> None:
        self._flowing.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        self._flowing.set()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        await self._flowing.wait()

    async def aclose(self) -> None:
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(2):
                await self._lost.wait()
        except TimeoutError:
            self._transport.abort()


class _ThreadSink:
    """For what asyncio cannot poll: a thread that writes what is queued."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._pump, name="stdout", daemon=True).start()

    def _pump(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._fd, view) :]
        except OSError as error:
            log.warning("nobody reads the standard output any more: %s", error)
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
