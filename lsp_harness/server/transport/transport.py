"""The interface of a connection to the client: it receives and sends the bodies of messages."""

from collections.abc import AsyncIterator
from typing import Protocol


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
