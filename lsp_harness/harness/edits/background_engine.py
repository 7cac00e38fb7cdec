"""The engine of work that no user waits for: its requests give way to all others, and it has a limit of tokens."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from lsp_harness.errors import NoAnswer
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Props, Usage

WINDOW_S = 60.0
"""Time in which a document may use its tokens."""


class TokenBudget:
    """The tokens that the background work for one document may use within `WINDOW_S`.

    Args:
        limit: Returns the present limit.
        now_s: Returns the present time in seconds.
    """

    def __init__(self, limit: Callable[[], int], now_s: Callable[[], float]) -> None:
        self._limit = limit
        self._now_s = now_s
        self._spent: deque[tuple[float, int]] = deque()

    @property
    def rest(self) -> int:
        """The tokens that may still be used now."""
        while self._spent and self._spent[0][0] <= self._now_s() - WINDOW_S:
            self._spent.popleft()
        return self._limit() - sum(tokens for _, tokens in self._spent)

    def spend(self, tokens: int) -> None:
        """Record that tokens were used."""
        self._spent.append((self._now_s(), tokens))


class BackgroundEngine:
    """An `Engine` that sends every request in the background, while there are tokens left.

    A request that has begun is completed, so the limit may be exceeded by one request.

    Args:
        engine: The engine that answers.
        budget: The tokens that may be used.
        on_spent: Called with the tokens of each request.
    """

    def __init__(self, engine: Engine, budget: TokenBudget, on_spent: Callable[[int], None]) -> None:
        self._engine = engine
        self._budget = budget
        self._on_spent = on_spent

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the chunks of the answer. Raises NoAnswer if no tokens are left."""
        if self._budget.rest <= 0:
            raise NoAnswer("the tokens for fixes in the background are used up (background.fix_tokens)")
        usages: dict[int, Usage] = {}
        try:
            async with aclosing(cast("Any", self._engine.stream(replace(request, priority="background")))) as chunks:
                async for chunk in cast("AsyncIterator[Chunk]", chunks):
                    usages[chunk.index] = chunk.usage
                    yield chunk
        finally:
            # all candidates share one prompt
            evaluated = max((usage.evaluated for usage in usages.values()), default=0)
            tokens = evaluated + sum(usage.generated for usage in usages.values())
            self._budget.spend(tokens)
            self._on_spent(tokens)

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._engine.count(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._engine.chat_prompt(messages)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._engine.embed(texts, max_tokens=max_tokens, priority="background")

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return await self._engine.cancel(name, index)

    async def props(self) -> Props:
        return await self._engine.props()

    async def aclose(self) -> None:
        """Do nothing: the engine belongs to the client."""
