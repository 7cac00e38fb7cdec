"""The transport over a loopback socket, for one client: the server stops listening when the first client connects."""

import asyncio
import sys

from lsp_harness.server.transport.framing import FramedStream, SocketSink
from lsp_harness.server.transport.listen_address import Address
from lsp_harness.server.transport.stdio import MAX_LINE_BYTES


async def accept_tcp(address: Address) -> FramedStream:
    """Wait for a client and return the transport to it."""
    connected: asyncio.Future[FramedStream] = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result(FramedStream(reader, SocketSink(writer), strict=True))

    listener = await asyncio.start_server(accept, address.host, address.port, limit=MAX_LINE_BYTES)
    try:
        announce("tcp", address, listener.sockets[0].getsockname()[1])
        return await connected
    finally:
        listener.close()


def announce(scheme: str, address: Address, port: int) -> None:
    """Write the address to stderr, because the caller may have asked for any free port."""
    sys.stderr.write(f"lsp-harness: listening on {scheme}://{address._replace(port=port)}\n")
    sys.stderr.flush()
