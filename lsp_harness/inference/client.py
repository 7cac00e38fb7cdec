"""The client of a model: our own engine on this machine, or remote servers.

If an engine dies, one request fails: the connection is dropped, the caller gets `EngineUnavailable`, and the next
request starts the engine again.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from typing import Protocol

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineError, EngineUnavailable, ToolsRefused
from lsp_harness.inference.backends.backend import Backend
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits, protocol_errors
from lsp_harness.inference.backends.server_supply import ModelServer, Supply, T, ask_with_retries
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Priority, Props, ToolChat
from lsp_harness.inference.target import is_remote

TOOL_WORDS = re.compile(r"\btool(?:s|_choice)?\b|\bfunctions?\b|response_format|json_schema", re.IGNORECASE)
"""Words of a service that refuses tools or an answer schema. There is no code for it."""


class Engine(Protocol):
    """The interface of a model. All methods raise EngineError."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the chunks of the answer."""
        ...

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        ...

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the text of the prompt for (role, content) messages, to count and to show it."""
        ...

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return a vector for each text."""
        ...

    async def cancel(self, name: str, index: int | None = None) -> bool:
        """Stop the request with the `Owner.id` `name`, or its candidate `index`. Return whether it was stopped."""
        ...

    async def props(self) -> Props:
        """Return the properties and the features of the engine."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class ForwardingEngine:
    """An `Engine` that passes each request on to another one. Its subclasses replace the requests that they change.

    Args:
        engine: The engine that answers.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        return self._engine.stream(request)

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._engine.count(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._engine.chat_prompt(messages)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._engine.embed(texts, max_tokens=max_tokens, priority=priority)

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return await self._engine.cancel(name, index)

    async def props(self) -> Props:
        return await self._engine.props()

    async def aclose(self) -> None:
        await self._engine.aclose()


@cache
def process_name() -> str:
    """Return a random name for this process, by which the engine shares the KV cache.

    It says nothing about the user.
    """
    from lsp_harness.text.ulid import make_ulid

    return make_ulid()


class EngineClient:
    """An `Engine` over HTTP.

    Raises:
        ConfigError: The settings name a server that cannot be asked.
        ApiKeyMissing: The settings name a server that needs a key, and there is none.
    """

    MAX_CACHED_COUNTS = 50_000
    """Texts whose token counts are kept."""

    def __init__(self, config: Config) -> None:
        self._supply: Supply = _remote_supply(config) if is_remote(config.engine) else _local_supply(config)
        self._counts: dict[str, int] = {}
        self._running: dict[str, tuple[Backend, str]] = {}

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the chunks of the answer.

        If the caller stops early, the connection is closed and the engine stops at its next token. The request is
        repeated, or sent to another server, only before the first chunk of the answer.
        """
        if not request.owner.client:
            request = replace(request, owner=replace(request.owner, client=process_name()))
        attempts, has_chunks = self._supply.attempts(affinity_key(request)), False
        name = request.owner.id
        while True:
            server = await attempts.next_server()
            try:
                backend = await server.backend()
                if request.sampling.n_predict == 0 and not backend.features()["warm"]:
                    # the server would not keep the evaluated prompt, so the evaluation would only cost money
                    yield Chunk("", "limit")
                    return
                with protocol_errors(server.endpoint.name):
                    exchange = await backend.build_exchange(request)
                self._running |= {name: (backend, request.owner.client)} if name else {}
                async with aclosing(server.endpoint.events(exchange.path, exchange.body)) as events:
                    async for data in events:
                        with protocol_errors(server.endpoint.name):
                            chunks = list(exchange.read(data))
                        for chunk in chunks:
                            has_chunks = True
                            yield chunk
                        if exchange.complete:
                            break
                    else:
                        for chunk in exchange.finish():
                            yield chunk
                if not exchange.complete:
                    raise EngineUnavailable("the engine stopped before the answer was complete; try again")
                attempts.report_success(server)
                return
            except EngineError as error:
                if isinstance(request, ToolChat) and not has_chunks and TOOL_WORDS.search(error.message):
                    raise ToolsRefused(error.message) from error
                raise
            except RetryableError as error:
                await attempts.report_failure(server, error)
                if has_chunks or not await attempts.may_retry(error):
                    raise error.error from error
            finally:
                self._running.pop(name, None)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, by the tokenizer of the model.

        If the server has no tokenizer that can be asked, each count is an `EstimatedCount`.
        """
        missing = list({text for text in texts if text not in self._counts})
        if missing:
            if len(self._counts) + len(missing) > self.MAX_CACHED_COUNTS:
                self._counts.clear()
                missing = list(set(texts))
            counts = await self._ask(lambda backend: backend.count(missing))
            self._counts.update(zip(missing, counts, strict=True))
        return [self._counts[text] for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the text of the prompt for (role, content) messages, to count and to show it.

        A server that does not reveal the template of its model gives the prompt in ChatML. To get an answer, send a
        `ChatRequest`.
        """
        return await self._ask(lambda backend: backend.chat_prompt(messages))

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return a vector for each text, made from its first `max_tokens` tokens if the server can cut texts."""
        return await self._ask(lambda backend: backend.embed(texts, max_tokens, priority)) if texts else []

    async def cancel(self, name: str, index: int | None = None) -> bool:
        """Stop the request with the `Owner.id` `name`, or its candidate `index`.

        Returns:
            False if no such request runs, or if the server only stops when the connection is closed.
        """
        if name not in self._running:
            return False
        backend, client = self._running[name]
        try:
            return await backend.cancel(client, name, index)
        except RetryableError as error:
            raise error.error from error

    async def props(self) -> Props:
        """Return the properties of the server and its features (see `FEATURES`)."""

        async def ask(backend: Backend) -> Props:
            props = await backend.props()
            # a backend may know its features only after it has read the properties
            return replace(props, features=backend.features())

        return await self._ask(ask)

    async def aclose(self) -> None:
        await self._supply.aclose()

    async def _ask(self, ask: Callable[[Backend], Awaitable[T]]) -> T:
        async def ask_server(server: ModelServer) -> T:
            return await ask(await server.backend())

        return await ask_with_retries(self._supply, ask_server)


def affinity_key(request: ModelRequest) -> str:
    """Return the key that assigns a request to a server: its document, or else its client and first extra file."""
    if request.owner.affinity:
        return request.owner.affinity
    extra = request.context.extra if isinstance(request, Infill) else ()
    return f"{request.owner.client}\0{extra[0][0] if extra else ''}"


def _remote_supply(config: Config) -> Supply:
    # the modules of remote servers are not needed for the local engine
    from lsp_harness.inference.backends.fleet import Fleet
    from lsp_harness.inference.providers import targets

    settings = config.engine
    limits = SilenceLimits(settings.first_token_seconds, settings.next_token_seconds)
    return Fleet([ModelServer(Endpoint(target, limits)) for target in targets(settings)], settings.retries)


def _local_supply(config: Config) -> Supply:
    from lsp_harness.inference.backends.local_engine import LocalSupply

    return LocalSupply(config)
