"""Several servers of one model: the same document always goes to the same one, whose prefix cache knows it.

Rendezvous hashing: each server is weighed with the key, and they are tried from the heaviest on. When one is down only
its own documents move, each to its own second choice; when it is back they return. One that failed gets no requests
while another can take them, until `/health` says that it is well or nobody else is left.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b

from lsp_harness.inference.backends.endpoint import RetryableError
from lsp_harness.inference.backends.server_supply import Attempts, Server

FIRST_RETRY_WAIT_S, MAX_RETRY_WAIT_S = 0.25, 8.0
"""Seconds before a request is tried again: at most the first, doubled with each try up to the second."""
MAX_REQUESTED_WAIT_S = 10.0
"""A server that asks for a longer wait is not waited for: the user would long have typed on."""
FIRST_PROBE_WAIT_S, MAX_PROBE_WAIT_S = 0.5, 30.0

Sleep = Callable[[float], Awaitable[object]]


def rendezvous_weight(key: str, server: str) -> bytes:
    """How much this server is meant for this key; evenly spread, and the same everywhere."""
    return blake2b(f"{key}\0{server}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Fleet:
    """A `Supply` of servers that somebody else runs."""

    def __init__(
        self,
        servers: Sequence[Server],
        retries: int,
        *,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.servers = tuple(servers)
        self.retries = retries
        self.sleep = sleep
        self.jitter = jitter
        self._down: dict[Server, asyncio.Task[None]] = {}

    def order(self, key: str) -> list[Server]:
        """All servers, the one that is meant for `key` first."""
        return sorted(self.servers, key=lambda server: rendezvous_weight(key, server.endpoint.name), reverse=True)

    def well(self, key: str) -> list[Server]:
        """Those of `order` that are not down, or all when all are."""
        order = self.order(key)
        return [server for server in order if server not in self._down] or order

    def tries(self, key: str) -> Attempts:
        return _FleetAttempts(self, key)

    def down(self, server: Server) -> None:
        """Spare this server until it is well. A single one is asked again whatever happens."""
        server.forget()
        if len(self.servers) > 1 and server not in self._down:
            self._down[server] = asyncio.create_task(self._probe(server))

    def up(self, server: Server) -> None:
        if probe := self._down.pop(server, None):
            probe.cancel()

    async def _probe(self, server: Server) -> None:
        wait = FIRST_PROBE_WAIT_S
        while True:
            await self.sleep(self.jitter(wait / 2, wait))
            if await server.endpoint.healthy():
                del self._down[server]
                return
            wait = min(wait * 2, MAX_PROBE_WAIT_S)

    async def aclose(self) -> None:
        for server in self.servers:
            self.up(server)
            await server.endpoint.aclose()


class _FleetAttempts:
    def __init__(self, fleet: Fleet, key: str) -> None:
        self._fleet = fleet
        self._key = key
        self._asked: set[Server] = set()
        self._left = fleet.retries
        self._wait = FIRST_RETRY_WAIT_S

    async def server(self) -> Server:
        server = self._fresh()[0]
        self._asked.add(server)
        return server

    def _fresh(self) -> list[Server]:
        well = self._fleet.well(self._key)
        return [server for server in well if server not in self._asked] or well

    async def failed(self, server: Server, setback: RetryableError) -> None:
        if setback.gone:
            self._fleet.down(server)

    async def again(self, setback: RetryableError) -> bool:
        if self._left <= 0 or not setback.again:
            return False
        self._left -= 1
        if self._fresh()[0] not in self._asked:
            return True
        if setback.wait > MAX_REQUESTED_WAIT_S:
            return False
        # full jitter: those who were turned away together must not come back together
        await self._fleet.sleep(max(setback.wait, self._fleet.jitter(0, self._wait)))
        self._wait = min(self._wait * 2, MAX_RETRY_WAIT_S)
        self._asked.clear()
        return True

    def answered(self, server: Server) -> None:
        self._fleet.up(server)
