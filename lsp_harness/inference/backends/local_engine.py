"""The local engine: the supervisor finds or starts it.

A request is repeated once if the engine ends before it answers.
"""

from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineUnavailable
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits
from lsp_harness.inference.backends.engine_pulse import EnginePulse
from lsp_harness.inference.backends.llama_server import HarnessEngine
from lsp_harness.inference.backends.server_supply import Attempts, ModelServer
from lsp_harness.inference.running_engines import STUCK_GRACE_S, end_engine_at, is_alive, peer_pid
from lsp_harness.inference.supervisor import EngineSupervisor
from lsp_harness.inference.target import Target

MIN_SILENCE_S = 0.5
"""Lower bound of `engine.silence_s`. A lower value would end an engine that only waits for a CPU core."""
CONNECTION_LOST_MESSAGE = "the engine ended during this request; the next request starts it again"


class LocalSupply:
    """A `Supply` of the local engine. Its socket changes with the model."""

    def __init__(self, config: Config) -> None:
        self._supervisor = EngineSupervisor(config)
        self._silence_s = max(config.engine.silence_s, MIN_SILENCE_S)
        self._socket: Path | None = None
        self._server: ModelServer | None = None

    def attempts(self, key: str) -> Attempts:
        return _LocalAttempts(self)

    async def server(self) -> ModelServer:
        """Return the running engine; start it if necessary."""
        socket = await self._supervisor.ensure_running()
        if self._server is None or socket != self._socket:
            await self.aclose()
            endpoint = Endpoint(
                Target(socket=str(socket)), SilenceLimits(), CONNECTION_LOST_MESSAGE, self._find_pulse(socket)
            )
            self._server, self._socket = ModelServer(endpoint, HarnessEngine(endpoint)), socket
        return self._server

    def _find_pulse(self, socket: Path) -> EnginePulse:
        """Return the watch of the process that listens at a socket now."""
        pid, silence_s = peer_pid(socket), self._silence_s

        async def ask_for_sign(limit_s: float) -> bool:
            return await is_alive(socket, limit_s, silence_s)

        async def end_stuck_engine() -> str:
            self._supervisor.suspect_engine()
            engine = f"the engine (process {pid})" if pid else "the engine"
            problem = f"{engine} gave no sign of life for {silence_s:g} s"
            try:
                end = await end_engine_at(socket, grace_s=STUCK_GRACE_S, pid=pid)
            except EngineUnavailable as error:
                return f"{problem}: {error.message}"
            if end is None:
                # another front end was faster
                return f"{problem} and is gone; the next request starts another"
            cause = f" ({end.condition})" if end.condition else ""
            return f"{problem}{cause}; it {end.description}, and the next request starts another"

        return EnginePulse(silence_s, ask_for_sign, end_stuck_engine)

    async def handle_lost_connection(self, server: ModelServer) -> None:
        """Forget a broken connection. A new connection that another request has made stays."""
        self._supervisor.suspect_engine()
        if self._server is server:
            await self.aclose()

    async def aclose(self) -> None:
        server, self._server = self._server, None
        if server:
            await server.endpoint.aclose()


class _LocalAttempts:
    """The attempts of one request: a second one if the engine ended before it answered."""

    def __init__(self, local: LocalSupply) -> None:
        self._local = local
        self._is_first = True

    async def next_server(self) -> ModelServer:
        return await self._local.server()

    async def report_failure(self, server: ModelServer, error: RetryableError) -> None:
        if error.server_lost:
            await self._local.handle_lost_connection(server)

    async def may_retry(self, error: RetryableError) -> bool:
        is_first, self._is_first = self._is_first, False
        # the engine is started again for the second attempt
        return is_first and error.server_lost and error.repeatable

    def report_success(self, server: ModelServer) -> None:
        pass
