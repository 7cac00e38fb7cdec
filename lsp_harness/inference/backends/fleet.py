"""Several servers of one model. A document always goes to the same server, which has its prefix in the cache.

The server is chosen by rendezvous hashing: each server gets a weight from its name and the key of the request, and the
servers are tried from the highest weight down. If a server fails, only its own documents move, each to its second
choice, and they return later. A server that failed gets no requests while another one can answer, until `/health`
succeeds.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b

from lsp_harness.inference.backends.endpoint import RetryableError
from lsp_harness.inference.backends.server_supply import Attempts, ModelServer

FIRST_RETRY_WAIT_S, MAX_RETRY_WAIT_S = 0.25, 8.0
"""Longest wait before the first repetition of a request. It doubles with each repetition up to the second value."""
MAX_REQUESTED_WAIT_S = 10.0
"""Longest wait that a server may ask for. If it asks for more, the request fails at once, because the user would have
typed on by then.
"""
FIRST_PROBE_WAIT_S, MAX_PROBE_WAIT_S = 0.5, 30.0
"""Wait before a failed server is probed; it doubles with each probe."""

Sleep = Callable[[float], Awaitable[object]]


def rendezvous_weight(key: str, server: str) -> bytes:
    """Return the weight of a server for a key. Weights are evenly distributed, and equal on all machines."""
    return blake2b(f"{key}\0{server}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Fleet:
    """A `Supply` of remote servers."""

    def __init__(
        self,
        servers: Sequence[ModelServer],
        retries: int,
        *,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.servers = tuple(servers)
        self.retries = retries
        self.sleep = sleep
        self.jitter = jitter
        self._failed: dict[ModelServer, asyncio.Task[None]] = {}

    def ranked_servers(self, key: str) -> list[ModelServer]:
        """Return all servers, the one for `key` first."""
        return sorted(self.servers, key=lambda server: rendezvous_weight(key, server.endpoint.name), reverse=True)

    def available_servers(self, key: str) -> list[ModelServer]:
        """Return the ranked servers that have not failed, or all if all have failed."""
        ranked = self.ranked_servers(key)
        return [server for server in ranked if server not in self._failed] or ranked

    def attempts(self, key: str) -> Attempts:
        return _FleetAttempts(self, key)

    def mark_failed(self, server: ModelServer) -> None:
        """Send this server no requests until it is healthy again. A single server still gets them."""
        server.forget_backend()
        if len(self.servers) > 1 and server not in self._failed:
            self._failed[server] = asyncio.create_task(self._probe(server))

    def mark_healthy(self, server: ModelServer) -> None:
        """Send this server requests again."""
        if probe := self._failed.pop(server, None):
            probe.cancel()

    async def _probe(self, server: ModelServer) -> None:
        wait_s = FIRST_PROBE_WAIT_S
        while True:
            await self.sleep(self.jitter(wait_s / 2, wait_s))
            if await server.endpoint.is_healthy():
                del self._failed[server]
                return
            wait_s = min(wait_s * 2, MAX_PROBE_WAIT_S)

    async def aclose(self) -> None:
        for server in self.servers:
            self.mark_healthy(server)
            await server.endpoint.aclose()


class _FleetAttempts:
    """The attempts of one request. Each server is asked once before one is asked again."""

    def __init__(self, fleet: Fleet, key: str) -> None:
        self._fleet = fleet
        self._key = key
        self._tried: set[ModelServer] = set()
        self._retries_left = fleet.retries
        self._wait_s = FIRST_RETRY_WAIT_S

    async def next_server(self) -> ModelServer:
        server = self._untried_servers()[0]
        self._tried.add(server)
        return server

    def _untried_servers(self) -> list[ModelServer]:
        available = self._fleet.available_servers(self._key)
        return [server for server in available if server not in self._tried] or available

    async def report_failure(self, server: ModelServer, error: RetryableError) -> None:
        if error.server_lost:
            self._fleet.mark_failed(server)

    async def may_retry(self, error: RetryableError) -> bool:
        if self._retries_left <= 0 or not error.repeatable:
            return False
        self._retries_left -= 1
        if self._untried_servers()[0] not in self._tried:
            return True
        if error.wait_s > MAX_REQUESTED_WAIT_S:
            return False
        # full jitter: clients that were refused together must not return together
        await self._fleet.sleep(max(error.wait_s, self._fleet.jitter(0, self._wait_s)))
        self._wait_s = min(self._wait_s * 2, MAX_RETRY_WAIT_S)
        self._tried.clear()
        return True

    def report_success(self, server: ModelServer) -> None:
        self._fleet.mark_healthy(server)
