"""The address on which the server listens, HOST:PORT on this machine, and the transport over a loopback socket.

Anybody who can connect can read every open file and request edits, and LSP has no password. So the server cannot listen
on the network. An SSH tunnel does that. There is one client: the server stops listening when the first one connects.
"""

import asyncio
import sys
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from lsp_harness.errors import UsageError
from lsp_harness.server.transport.stdio import MAX_LINE_BYTES
from lsp_harness.server.transport.transport import FramedStream, SocketSink


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Parse `HOST:PORT` or `PORT`. Port 0 stands for any free port.

    Raises:
        UsageError: The address is not valid, or other machines can reach it.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"{text!r} must have the form HOST:PORT, with a port from 0 to 65535; for example 127.0.0.1:8765"
        )
    if not is_loopback(host):
        raise UsageError(
            f"{host} is an address that other machines can reach; use 127.0.0.1, and an SSH tunnel for access from "
            "elsewhere"
        )
    return Address(host, int(port))


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_local_authority(value: str) -> bool:
    """Return whether a Host header names this machine. Another name belongs to a page whose domain was pointed here."""
    return is_loopback(urlsplit(f"//{value}").hostname or "")


def is_local_origin(value: str) -> bool:
    """Return whether an Origin header names a page that this machine serves."""
    return is_loopback(urlsplit(value).hostname or "")


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
