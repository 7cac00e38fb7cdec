"""Messages behind `Content-Length` headers, over any pair of byte streams.

Reading is forgiving where a pipe ties us to one client (a bad frame is answered with a parse error and the next
header is looked for) and strict where anybody could have connected: on a socket the first line that is no header ends
the connection, so that a web page cannot smuggle LSP messages in the body of an HTTP POST.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Protocol

from lsp_harness.server.lsp_errors import PARSE_ERROR
from lsp_harness.server.transport import rpc_message

log = logging.getLogger(__name__)

LONGEST = 512 * 2**20
HIGH_WATER = 64 * 2**20
LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*$", re.IGNORECASE)
HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:")
BLANK = (b"\r\n", b"\n")


class Sink(Protocol):
    """Where bytes go. `asyncio.StreamWriter` is one, but for `aclose`."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    async def aclose(self) -> None: ...


class Unreadable(Exception):
    """There is no telling where the next message begins."""


class Framed:
    """A Transport over a reader and a sink."""

    def __init__(self, reader: asyncio.StreamReader, sink: Sink, *, strict: bool) -> None:
        self._reader = reader
        self._sink = sink
        self._strict = strict

    async def messages(self) -> AsyncIterator[bytes]:
        try:
            while (length := await self._length()) is not None:
                yield await self._reader.readexactly(length)
        except asyncio.IncompleteReadError:
            log.warning("the client closed the connection in the middle of a message")
        except (ValueError, Unreadable) as error:  # ValueError: a line longer than the reader's limit
            log.warning("the connection is closed, because a message cannot be read: %s", error)
        except ConnectionError as error:
            log.warning("the connection is lost: %s", error)

    async def _length(self) -> int | None:
        """Reads headers; None at the end of the stream."""
        length: int | None = None
        fault = ""
        started = False
        while line := await self._reader.readline():
            if line in BLANK:
                if length is not None:
                    return length
                if started:
                    self._complain(fault or "a message header without Content-Length")
                fault, started = "", False
                continue
            started = True
            # search, not match: after a message that was longer than it said, its tail stands before the next header
            found = LENGTH.search(line)
            if found and not (self._strict and found.start()):
                length = int(found[1])
                if length > LONGEST:
                    self._complain(f"a message of {length} bytes is too long")
                    raise Unreadable(f"the header of a message says {length} bytes")
            elif self._strict and not HEADER.match(line):
                raise Unreadable("this is not a message header")
            elif line.lower().startswith(b"content-length"):
                fault = "Content-Length is not a number of bytes"
        return None

    def _complain(self, fault: str) -> None:
        log.warning("bad frame: %s", fault)
        self.send(rpc_message.dump(rpc_message.refusal(None, PARSE_ERROR, fault)))

    def send(self, body: bytes) -> None:
        self._sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def drain(self) -> None:
        await self._sink.drain()

    async def aclose(self) -> None:
        await self._sink.aclose()


class SocketSink:
    """A Sink over asyncio's own writer."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=HIGH_WATER)
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(2):
                await self._writer.wait_closed()
        except (TimeoutError, ConnectionError):
            self._writer.transport.abort()
