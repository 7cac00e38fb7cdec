"""Messages with `Content-Length` headers, over any pair of byte streams.

On a pipe, which has one client, a bad frame is answered with a parse error, and reading continues at the next header.
On a socket, to which any program can connect, the first line that is not a header ends the connection. So a web page
cannot hide LSP messages in the body of an HTTP POST.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Protocol

from lsp_harness.server.lsp_errors import PARSE_ERROR
from lsp_harness.server.transport import rpc_message

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 512 * 2**20
WRITE_BUFFER_BYTES = 64 * 2**20
"""Number of unsent bytes from which on `drain` waits."""
LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*$", re.IGNORECASE)
HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:")
BLANK_LINES = (b"\r\n", b"\n")


class ByteSink(Protocol):
    """The writing end of a byte stream."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    async def aclose(self) -> None: ...


class UnreadableStream(Exception):
    """It is not known where the next message begins."""


class FramedStream:
    """A Transport over a reader and a sink.

    Args:
        reader: The bytes of the client.
        sink: The bytes to the client.
        strict: Whether a line that is not a header ends the connection.
    """

    def __init__(self, reader: asyncio.StreamReader, sink: ByteSink, *, strict: bool) -> None:
        self._reader = reader
        self._sink = sink
        self._strict = strict

    async def messages(self) -> AsyncIterator[bytes]:
        try:
            while (length := await self._read_length()) is not None:
                yield await self._reader.readexactly(length)
        except asyncio.IncompleteReadError:
            log.warning("the client closed the connection in the middle of a message")
        except (ValueError, UnreadableStream) as error:  # ValueError: a line longer than the reader's limit
            log.warning("the connection is closed, because a message cannot be read: %s", error)
        except ConnectionError as error:
            log.warning("the connection is lost: %s", error)

    async def _read_length(self) -> int | None:
        """Read the headers of one message and return its length in bytes. Return None at the end of the stream."""
        length: int | None = None
        fault = ""
        has_header = False
        while line := await self._reader.readline():
            if line in BLANK_LINES:
                if length is not None:
                    return length
                if has_header:
                    self._report(fault or "a message header without Content-Length")
                fault, has_header = "", False
                continue
            has_header = True
            # `search`, because the end of a message that was longer than its header said comes before the next header
            match = LENGTH.search(line)
            if match and not (self._strict and match.start()):
                length = int(match[1])
                if length > MAX_MESSAGE_BYTES:
                    self._report(f"a message of {length} bytes is too long")
                    raise UnreadableStream(f"the header of a message says {length} bytes")
            elif self._strict and not HEADER.match(line):
                raise UnreadableStream("this is not a message header")
            elif line.lower().startswith(b"content-length"):
                fault = "Content-Length is not a number of bytes"
        return None

    def _report(self, fault: str) -> None:
        log.warning("bad frame: %s", fault)
        self.send(rpc_message.dump(rpc_message.error_response(None, PARSE_ERROR, fault)))

    def send(self, body: bytes) -> None:
        self._sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def drain(self) -> None:
        await self._sink.drain()

    async def aclose(self) -> None:
        await self._sink.aclose()


class SocketSink:
    """A ByteSink over a writer of asyncio."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
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
