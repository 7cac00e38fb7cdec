"""Sends `lspHarness/status` to a client that announced it, whenever the state of the harness changed."""

import asyncio
from typing import Any

from lsp_harness.harness.harness import Harness
from lsp_harness.server.protocol import Server

METHOD = "lspHarness/status"
DELAY_S = 0.1
"""Requests begin and end many times a second. A state that lasts less than this is not sent."""


class StatusFeed:
    """The status notifications of one client."""

    def __init__(self, server: Server, harness: Harness) -> None:
        self._server = server
        self._harness = harness
        self._timer: asyncio.TimerHandle | None = None
        self._last_state: dict[str, Any] = {}

    def schedule(self) -> None:
        """Send the state after a delay, if it is another one by then."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELAY_S, self._send)

    def _send(self) -> None:
        self._timer = None
        state = self._harness.state()
        if state != self._last_state:
            self._last_state = state
            self._server.protocol.notify(METHOD, state)
