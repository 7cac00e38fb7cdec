"""Our own engine: found or started by the supervisor, and asked once more when it died before it answered."""

from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineUnavailable
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits
from lsp_harness.inference.backends.engine_pulse import EnginePulse
from lsp_harness.inference.backends.llama_server import HarnessEngine
from lsp_harness.inference.backends.server_supply import Attempts, Server
from lsp_harness.inference.providers import Target
from lsp_harness.inference.running_engines import STUCK_GRACE_S, end_engine_at, is_alive, peer_pid
from lsp_harness.inference.supervisor import Supervisor

MIN_SILENCE_S = 0.5
"""Less would end an engine that only waits for a core."""
CONNECTION_LOST_MESSAGE = "the engine ended during this request; the next request starts it again"


class LocalSupply:
    """A `Supply` of one server, whose socket changes with its model."""

    def __init__(self, config: Config) -> None:
        self._supervisor = Supervisor(config)
        self._silence_s = max(config.engine.silence_s, MIN_SILENCE_S)
        self._socket: Path | None = None
        self._server: Server | None = None

    def tries(self, key: str) -> Attempts:
        return _LocalAttempts(self)

    async def server(self) -> Server:
        socket = await self._supervisor.ensure()
        if self._server is None or socket != self._socket:
            await self.aclose()
            endpoint = Endpoint(
                Target(socket=str(socket)), SilenceLimits(), CONNECTION_LOST_MESSAGE, self._pulse(socket)
            )
            self._server, self._socket = Server(endpoint, HarnessEngine(endpoint)), socket
        return self._server

    def _pulse(self, socket: Path) -> EnginePulse:
        """Of the process that listens at a socket now. A long prompt may wait its turn there for as long as it takes."""
        pid, silence_s = peer_pid(socket), self._silence_s

        async def sign(limit_s: float) -> bool:
            return await is_alive(socket, limit_s, silence_s)

        async def stuck() -> str:
            self._supervisor.doubt()
            who = f"the engine (process {pid})" if pid else "the engine"
            what = f"{who} gave no sign of life for {silence_s:g} s"
            try:
                ended = await end_engine_at(socket, grace_s=STUCK_GRACE_S, pid=pid)
            except EngineUnavailable as error:
                return f"{what}: {error.message}"
            if ended is None:
                # another front end was faster
                return f"{what} and is gone; the next request starts another"
            cause = f" ({ended.condition})" if ended.condition else ""
            return f"{what}{cause}; it {ended.words}, and the next request starts another"

        return EnginePulse(silence_s, sign, stuck)

    async def lost(self, server: Server) -> None:
        """Its connection broke. By now another request may have made a new one, which stays."""
        self._supervisor.doubt()
        if self._server is server:
            await self.aclose()

    async def aclose(self) -> None:
        server, self._server = self._server, None
        if server:
            await server.endpoint.aclose()


class _LocalAttempts:
    def __init__(self, local: LocalSupply) -> None:
        self._local = local
        self._first = True

    async def server(self) -> Server:
        return await self._local.server()

    async def failed(self, server: Server, setback: RetryableError) -> None:
        if setback.gone:
            await self._local.lost(server)

    async def again(self, setback: RetryableError) -> bool:
        first, self._first = self._first, False
        # what was never answered can be asked again: the engine is started anew for it
        return first and setback.gone and setback.again

    def answered(self, server: Server) -> None:
        pass
