"""Connections to the client: they receive and send the bodies of messages.

`FramedStream` does that with `Content-Length` headers over any pair of byte streams. On a pipe, which has one client, a
bad frame is answered with a parse error, and reading continues at the next header. On a socket, to which any program
can connect, the first line that is not a header ends the connection. So a web page cannot hide LSP messages in the body
of an HTTP POST.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Protocol

from lsp_harness.wire import rpc_message
from lsp_harness.wire.message_stream import MessageReader, UnreadableStream, frame

log = logging.getLogger(__name__)

WRITE_BUFFER_BYTES = 64 * 2**20
"""Number of unsent bytes from which on `drain` waits."""


class ByteSink(Protocol):
    """The writing end of a byte stream."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    async def aclose(self) -> None: ...


class FramedStream:
    """A Transport over a reader and a sink.

    Args:
        reader: The bytes of the client.
        sink: The bytes to the client.
        strict: Whether a line that is not a header ends the connection.
    """

    def __init__(self, reader: asyncio.StreamReader, sink: ByteSink, *, strict: bool) -> None:
        self._reader = MessageReader(reader, self._report, strict=strict)
        self._sink = sink

    async def messages(self) -> AsyncIterator[bytes]:
        try:
            while (body := await self._reader.read()) is not None:
                yield body
        except asyncio.IncompleteReadError:
            log.warning("the client closed the connection in the middle of a message")
        except (ValueError, UnreadableStream) as error:  # ValueError: a line longer than the reader's limit
            log.warning("the connection is closed, because a message cannot be read: %s", error)
        except ConnectionError as error:
            log.warning("the connection is lost: %s", error)

    def _report(self, fault: str) -> None:
        log.warning("bad frame: %s", fault)
        self.send(rpc_message.dump(rpc_message.error_response(None, rpc_message.PARSE_ERROR, fault)))

    def send(self, body: bytes) -> None:
        self._sink.write(frame(body))

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


class Transport(Protocol):
    """One connection. The transport handles the framing, and answers a frame that it cannot read."""

    def messages(self) -> AsyncIterator[bytes]:
        """Yield the bodies in order, until the client leaves or its messages cannot be read any more."""
        ...

    def send(self, body: bytes) -> None:
        """Send one body. Never blocks and never raises. The order stays."""
        ...

    async def drain(self) -> None:
        """Wait while too many bytes are unread by the client."""

    async def aclose(self) -> None:
        """Close the connection when all bodies are sent, or after two seconds."""
