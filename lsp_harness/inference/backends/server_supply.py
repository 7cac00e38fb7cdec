"""Where the server of a request comes from, and what becomes of a request that failed."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from lsp_harness.inference.backends.backend import Backend
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, protocol_errors

T = TypeVar("T")


class Server:
    """An endpoint, and its dialect once that is known."""

    def __init__(self, endpoint: Endpoint, backend: Backend | None = None) -> None:
        self.endpoint = endpoint
        self._backend = backend

    async def backend(self) -> Backend:
        """Found out with the first request. Raises EngineError, RetryableError."""
        if self._backend is None:
            from lsp_harness.inference.backends.detection import detect

            with protocol_errors(self.endpoint.name):
                self._backend = await detect(self.endpoint)
        return self._backend

    def forget(self) -> None:
        """What answers there next may be something else."""
        self._backend = None


class Attempts(Protocol):
    """The tries of one request."""

    async def server(self) -> Server:
        """Whom to ask now. Raises EngineUnavailable."""
        ...

    async def failed(self, server: Server, setback: RetryableError) -> None:
        """This server had a setback, in whatever state the request was."""
        ...

    async def again(self, setback: RetryableError) -> bool:
        """Whether to try once more, after a wait if one is due."""
        ...

    def answered(self, server: Server) -> None:
        """The server did its part."""
        ...


class Supply(Protocol):
    """All servers of a client."""

    def tries(self, key: str) -> Attempts:
        """`key` names what the request is about: equal keys go to the same server while it can be reached."""
        ...

    async def aclose(self) -> None: ...


async def ask_with_retries(supply: Supply, ask: Callable[[Server], Awaitable[T]]) -> T:
    """The answer to one question that is not a stream, asked as often as a stream would be. Raises EngineError."""
    tries = supply.tries("")
    while True:
        server = await tries.server()
        try:
            with protocol_errors(server.endpoint.name):
                answer = await ask(server)
        except RetryableError as setback:
            await tries.failed(server, setback)
            if not await tries.again(setback):
                raise setback.error from setback
        else:
            tries.answered(server)
            return answer
