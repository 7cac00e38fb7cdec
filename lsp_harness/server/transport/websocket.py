"""The transport over a WebSocket, for editors in a browser. Each text frame has one JSON message.

Any web page may try to open a WebSocket to this machine. So the Origin must be a page that this machine serves, or
absent, which means that the client is not a browser. The Host must name this machine, so that a page cannot connect by
a domain name that was pointed here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from lsp_harness.extras import need_extra
from lsp_harness.server.transport.tcp import Address, announce, is_local_authority, is_local_origin

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 64 * 2**20


class WebSocketTransport:
    """A Transport over one WebSocket. One task sends all messages, so that their order stays."""

    def __init__(self, connection: "ServerConnection") -> None:
        self._connection = connection
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sender = asyncio.create_task(self._send_queue())
        self.closed = asyncio.Event()

    async def messages(self) -> AsyncIterator[bytes]:
        from websockets.exceptions import ConnectionClosed

        try:
            async for data in self._connection:
                yield data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        except ConnectionClosed as closed:
            log.warning("the connection is lost: %s", closed)

    async def _send_queue(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            while (body := await self._outgoing.get()) is not None:
                await self._connection.send(body.decode("ascii"))
        except ConnectionClosed as closed:
            log.warning("the connection is lost: %s", closed)

    def send(self, body: bytes) -> None:
        self._outgoing.put_nowait(body)

    async def drain(self) -> None: ...

    async def aclose(self) -> None:
        self._outgoing.put_nowait(None)
        try:
            async with asyncio.timeout(2):
                await self._sender
                await self._connection.close()
        except TimeoutError:
            log.warning("the client did not close the connection in time")
        self.closed.set()


async def accept_ws(address: Address) -> WebSocketTransport:
    """Wait for a client and return the transport to it.

    Raises:
        ExtraMissing: The package `websockets` is not installed.
    """
    with need_extra("api"):
        from websockets.asyncio.server import serve
    connected: asyncio.Future[WebSocketTransport] = asyncio.get_running_loop().create_future()

    def refuse(connection: "ServerConnection", request: "Request") -> "Response | None":
        origin = request.headers.get("Origin")
        if not is_local_authority(request.headers.get("Host", "")):
            return connection.respond(HTTPStatus.FORBIDDEN, "The Host header does not name this machine.\n")
        if origin is not None and not is_local_origin(origin):
            return connection.respond(HTTPStatus.FORBIDDEN, "Pages from elsewhere may not connect.\n")
        if connected.done():
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "Another client is connected.\n")
        return None

    async def accept(connection: "ServerConnection") -> None:
        if connected.done():
            return
        socket = WebSocketTransport(connection)
        connected.set_result(socket)
        # a return would close the connection
        await socket.closed.wait()

    listener = await serve(
        accept, address.host, address.port, process_request=refuse, max_size=MAX_MESSAGE_BYTES, compression=None
    )
    announce("ws", address, next(iter(listener.sockets)).getsockname()[1])
    try:
        return await connected
    finally:
        listener.close(close_connections=False)
