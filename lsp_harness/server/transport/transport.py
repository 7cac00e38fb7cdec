"""What the rest of the server knows about the wire: bodies of messages come in, bodies go out."""

from collections.abc import AsyncIterator
from typing import Protocol


class Transport(Protocol):
    """Framing is its own business, including what to say about a frame it cannot read."""

    def messages(self) -> AsyncIterator[bytes]:
        """Bodies in order; ends when the client is gone or cannot be followed any more."""
        ...

    def send(self, body: bytes) -> None:
        """Never blocks and never raises; order is kept."""
        ...

    async def drain(self) -> None:
        """Waits while the client has far too much left unread."""

    async def aclose(self) -> None:
        """Lets go, after what was sent is out or a short while is over."""
