"""Talking to a model: our own engine on this machine, or servers that somebody else runs.

One failed request is all a dead engine may cost: the connection is dropped, the caller gets `EngineUnavailable`, and
the next request starts the engine again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from typing import Protocol

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineUnavailable
from lsp_harness.inference.backends.backend import Backend
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits, protocol_errors
from lsp_harness.inference.backends.server_supply import Server, Supply, T, ask_with_retries
from lsp_harness.inference.providers import is_remote, targets
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props


class Engine(Protocol):
    """What the harness needs of a model."""

    def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]: ...
    async def count(self, texts: Sequence[str]) -> list[int]: ...
    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str: ...
    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]: ...
    async def cancel(self, name: str, index: int | None = None) -> bool: ...
    async def props(self) -> Props: ...
    async def aclose(self) -> None: ...


@cache
def process_name() -> str:
    """Whose the requests of this process are, for the sharing of the KV cache. It tells nothing about the user."""
    from ulid import ULID

    return str(ULID())


class EngineClient:
    """An `Engine` over HTTP. Raises ConfigError, or ApiKeyMissing, when the settings name a server that cannot be asked."""

    COUNTS = 50_000
    """Lines whose token counts are remembered."""

    def __init__(self, config: Config) -> None:
        self._supply: Supply = _remote(config) if is_remote(config.engine) else _local(config)
        self._counts: dict[str, int] = {}
        self._running: dict[str, tuple[Backend, str]] = {}

    async def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]:
        """Chunks of the answer; leaving early closes the connection, which stops the engine at its next token.

        Tried again, or elsewhere, only while nothing of the answer was handed on.
        """
        if not request.owner.client:
            request = replace(request, owner=replace(request.owner, client=process_name()))
        tries, begun = self._supply.tries(affinity_key(request)), False
        name = request.owner.id
        while True:
            server = await tries.server()
            try:
                backend = await server.backend()
                if request.sampling.n_predict == 0 and not backend.features()["warm"]:
                    # a prompt that is not kept must not be paid for
                    yield Chunk("", "limit")
                    return
                exchange = backend.ask(request)
                self._running |= {name: (backend, request.owner.client)} if name else {}
                async with aclosing(server.endpoint.events(exchange.path, exchange.body)) as events:
                    async for data in events:
                        with protocol_errors(server.endpoint.name):
                            chunks = list(exchange.read(data))
                        for chunk in chunks:
                            begun = True
                            yield chunk
                        if exchange.complete:
                            break
                    else:
                        for chunk in exchange.ended():
                            yield chunk
                if not exchange.complete:
                    raise EngineUnavailable("the engine stopped before the answer was complete; try again")
                tries.answered(server)
                return
            except RetryableError as setback:
                await tries.failed(server, setback)
                if begun or not await tries.again(setback):
                    raise setback.error from setback
            finally:
                self._running.pop(name, None)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, by the model's own tokenizer; of a server that has none to ask, each is an `Estimate`."""
        missing = list({text for text in texts if text not in self._counts})
        if missing:
            if len(self._counts) + len(missing) > self.COUNTS:
                self._counts.clear()
                missing = list(set(texts))
            counts = await self._with(lambda backend: backend.count(missing))
            self._counts.update(zip(missing, counts, strict=True))
        return [self._counts[text] for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """The prompt of a conversation of (role, content), by the model's own template."""
        return await self._with(lambda backend: backend.chat_prompt(messages))

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """A vector for each text, of its first `max_tokens` tokens where the server can cut."""
        return await self._with(lambda backend: backend.embed(texts, max_tokens, priority)) if texts else []

    async def cancel(self, name: str, index: int | None = None) -> bool:
        """Stop the request whose `Owner.id` is `name`, or one candidate of it.

        False when nothing runs by that name, or the server knows no way but a closed connection.
        """
        if name not in self._running:
            return False
        backend, client = self._running[name]
        try:
            return await backend.cancel(client, name, index)
        except RetryableError as setback:
            raise setback.error from setback

    async def props(self) -> Props:
        """What the server says of itself, and what it can do (see `FEATURES`)."""

        async def told(backend: Backend) -> Props:
            props = await backend.props()
            # some know only now
            return replace(props, features=backend.features())

        return await self._with(told)

    async def aclose(self) -> None:
        await self._supply.aclose()

    async def _with(self, ask: Callable[[Backend], Awaitable[T]]) -> T:
        async def asked(server: Server) -> T:
            return await ask(await server.backend())

        return await ask_with_retries(self._supply, asked)


def affinity_key(request: Continuation | Infill) -> str:
    """What a request is about: its document where that is named, else its client and the first file it is told of."""
    if request.owner.affinity:
        return request.owner.affinity
    extra = request.around.extra if isinstance(request, Infill) else ()
    return f"{request.owner.client}\0{extra[0][0] if extra else ''}"


def _remote(config: Config) -> Supply:
    from lsp_harness.inference.backends.fleet import Fleet

    settings = config.engine
    patience = SilenceLimits(settings.first_token_seconds, settings.next_token_seconds)
    return Fleet([Server(Endpoint(target, patience)) for target in targets(settings)], settings.retries)


def _local(config: Config) -> Supply:
    from lsp_harness.inference.backends.local_engine import LocalSupply

    return LocalSupply(config)
