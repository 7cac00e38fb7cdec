"""`lspHarness/status`: how things stand, told to a client that asked to be, when that changed.

Requests begin and end many times a second; what lasts less than `QUIET_SECONDS` is not told.
"""

import asyncio
from typing import Any

from lsp_harness.harness.harness import Harness
from lsp_harness.server.protocol import Server

METHOD = "lspHarness/status"
QUIET_SECONDS = 0.1


class StatusFeed:
    """One per client."""

    def __init__(self, server: Server, harness: Harness) -> None:
        self._server = server
        self._harness = harness
        self._due: asyncio.TimerHandle | None = None
        self._told: dict[str, Any] = {}

    def changed(self) -> None:
        """Something may be different."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._tell)

    def _tell(self) -> None:
        self._due = None
        state = self._harness.state()
        if state != self._told:
            self._told = state
            self._server.protocol.notify(METHOD, state)
