"""The interfaces that choose a server for a request (`Supply`) and decide about another attempt (`Attempts`)."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from lsp_harness.inference.backends.backend import Backend
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, protocol_errors

T = TypeVar("T")


class ModelServer:
    """An endpoint, and its backend once that is detected."""

    def __init__(self, endpoint: Endpoint, backend: Backend | None = None) -> None:
        self.endpoint = endpoint
        self._backend = backend

    async def backend(self) -> Backend:
        """Return the backend; detect it with the first request. Raise EngineError or RetryableError."""
        if self._backend is None:
            from lsp_harness.inference.backends.backend_kinds import detect

            with protocol_errors(self.endpoint.name):
                self._backend = await detect(self.endpoint)
        return self._backend

    def forget_backend(self) -> None:
        """Detect the backend again with the next request, because another server may answer at this address."""
        self._backend = None


class Attempts(Protocol):
    """The attempts to get an answer to one request."""

    async def next_server(self) -> ModelServer:
        """Return the server to ask now. Raise EngineUnavailable."""
        ...

    async def report_failure(self, server: ModelServer, error: RetryableError) -> None:
        """Note that this server failed, whatever part of the answer had arrived."""
        ...

    async def may_retry(self, error: RetryableError) -> bool:
        """Return whether to try again. Wait before that if a wait is due."""
        ...

    def report_success(self, server: ModelServer) -> None:
        """Note that this server answered."""
        ...


class Supply(Protocol):
    """All servers of a client."""

    def attempts(self, key: str) -> Attempts:
        """Return the attempts of a request.

        Requests with the same `key` go to the same server while it can be reached.
        """
        ...

    async def aclose(self) -> None: ...


async def ask_with_retries(supply: Supply, ask: Callable[[ModelServer], Awaitable[T]]) -> T:
    """Return the answer to a request that is not a stream, with the same attempts as a stream. Raise EngineError."""
    attempts = supply.attempts("")
    while True:
        server = await attempts.next_server()
        try:
            with protocol_errors(server.endpoint.name):
                answer = await ask(server)
        except RetryableError as error:
            await attempts.report_failure(server, error)
            if not await attempts.may_retry(error):
                raise error.error from error
        else:
            attempts.report_success(server)
            return answer
