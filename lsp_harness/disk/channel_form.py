"""The form of a local channel, which each kind of it has."""

import asyncio
import socket
from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

ChannelState = Literal["connected", "full", "nobody"]
"""Whether a program listens. The queue of one that is stuck may be full."""


class HttpAccess(NamedTuple):
    """How a client of HTTP reaches the program behind a channel.

    Attributes:
        socket: The path of a Unix socket, or None for a port.
        base: The address of the server.
        headers: The headers that each request needs.
    """

    socket: str | None
    base: str
    headers: Mapping[str, str]


class LocalChannel(Protocol):
    """A channel at the path of a file."""

    token: str
    """The token that requests over HTTP need. It is empty if the channel itself keeps other users out."""

    def listen(self) -> socket.socket:
        """Return a listening socket that only this user can reach. What has its name is replaced. Raises OSError."""
        ...

    async def connect(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the program that listens.

        Args:
            limit: The longest line that is read.

        Raises:
            OSError: Nobody listens.
        """
        ...

    def greeting(self) -> bytes:
        """Return what a program sends first, so that it is admitted. It is empty for a Unix socket. Raises OSError."""
        ...

    async def admits(self, reader: asyncio.StreamReader) -> bool:
        """Return whether a program that has connected may use the channel, after reading its greeting."""
        ...

    def probe(self) -> ChannelState:
        """Return whether a program listens."""
        ...

    def find_peer(self) -> int | None:
        """Return the number of the process that listens, as the system knows it. None if nobody does, or if the queue
        of the program is full."""
        ...

    def problem(self) -> str:
        """Return why a client must not connect; empty if it may."""
        ...

    def peer_problem(self, connected: socket.socket) -> str:
        """Return why the program at the other end cannot be trusted; empty if it can."""
        ...

    def http_access(self) -> HttpAccess:
        """Return how a client of HTTP gets to the program. Raises OSError."""
        ...
