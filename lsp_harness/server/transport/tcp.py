"""LSP over a loopback socket, for one client: the listener closes when the first has connected."""

import asyncio
import sys

from lsp_harness.server.transport.framing import Framed, SocketSink
from lsp_harness.server.transport.listen_address import Address
from lsp_harness.server.transport.stdio import LINE_LIMIT


async def accept_tcp(address: Address) -> Framed:
    connected: asyncio.Future[Framed] = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result(Framed(reader, SocketSink(writer), strict=True))

    listener = await asyncio.start_server(accept, address.host, address.port, limit=LINE_LIMIT)
    try:
        announce("tcp", address, listener.sockets[0].getsockname()[1])
        return await connected
    finally:
        listener.close()


def announce(scheme: str, address: Address, port: int) -> None:
    """On stderr, for whoever asked for port 0."""
    sys.stderr.write(f"lsp-harness: listening on {scheme}://{address._replace(port=port)}\n")
    sys.stderr.flush()
