"""The HTTP protocol of uvicorn with bounds: how many connections there are, and how long a request may take to come.

uvicorn has no time limit for the head of a request, so that a client which sends a byte now and then would keep its
connection for ever.
"""

import asyncio
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_CONNECTIONS = 256
"""Connections that may be open at once. Further ones are closed at once."""
HEAD_TIMEOUT_S = 10.0
"""Time in which the head of a request must arrive."""
MAX_HEAD_BYTES = 32_768
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"connection: close\r\ncontent-length: 95\r\n\r\n"
    b'{"error":{"code":"TOO_MANY_CONNECTIONS","message":"too many connections","resolution":"wait"}}\n'
)


class BoundedProtocol(H11Protocol):
    """One connection of a client. The arguments are those of `H11Protocol`."""

    _deadline: asyncio.TimerHandle | None = None
    _last_cycle: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin the connection, or refuse it."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(REFUSAL)
            transport.close()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request. A whole head ends the time limit."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.cycle is not self._last_cycle or self.transport.get_protocol() is not self:
            self._last_cycle = self.cycle
            self._cancel_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP. If it is the body of a request, nobody waits for the answer of the application."""
        # without a request there is none
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            # the answer of the application has begun
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request of the same connection."""
        self._expect_head()
        super().on_response_complete()
        if self.cycle is not self._last_cycle:
            # the next request had come before
            self._last_cycle = self.cycle
            self._cancel_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._cancel_deadline()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._cancel_deadline()
        self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
