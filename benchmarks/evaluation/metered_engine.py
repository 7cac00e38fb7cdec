"""An engine that counts what one attempt costs, and ends the attempt when it costs too much."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.errors import HarnessError
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Props


class TokenLimitReached(HarnessError):
    """An error of an attempt that generated more tokens than it may."""


@dataclass(slots=True)
class TokenCount:
    """The tokens of one attempt, or of one state of it.

    Attributes:
        evaluated: The prompt tokens that the engine evaluated.
        reused: The prompt tokens that it had evaluated before.
        generated: The tokens of the answers.
    """

    evaluated: int = 0
    reused: int = 0
    generated: int = 0


class MeteredEngine:
    """An `Engine` that passes requests on. It belongs to one attempt, and closing it closes nothing.

    Args:
        engine: The engine that answers.
        token_limit: The most tokens of all answers; 0 is no limit.
        find_state: Returns the name of the state that requests now belong to.

    Attributes:
        calls: The number of requests that asked for text.
        tokens: Name of a state → its tokens.
        is_exhausted: Whether the limit was reached.
    """

    def __init__(self, engine: Engine, token_limit: int = 0, find_state: Callable[[], str] = lambda: "") -> None:
        self._engine = engine
        self._token_limit = token_limit
        self._find_state = find_state
        self.calls = 0
        self.tokens: dict[str, TokenCount] = {}
        self.is_exhausted = False

    @property
    def generated(self) -> int:
        """The tokens of all answers."""
        return sum(count.generated for count in self.tokens.values())

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the chunks of the answer. Raises TokenLimitReached."""
        if self._token_limit and self.generated >= self._token_limit:
            self.is_exhausted = True
            raise TokenLimitReached(f"the limit of {self._token_limit:,} generated tokens is reached")
        if request.sampling.n_predict:
            self.calls += 1
        count = self.tokens.setdefault(self._find_state(), TokenCount())
        async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                if chunk.stop:
                    count.evaluated += chunk.usage.evaluated
                    count.reused += chunk.usage.reused
                    count.generated += chunk.usage.generated
                yield chunk

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return await self._engine.count(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the text of the prompt for (role, content) messages."""
        return await self._engine.chat_prompt(messages)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return a vector for each text."""
        return await self._engine.embed(texts, max_tokens=max_tokens, priority=priority)

    async def cancel(self, name: str, index: int | None = None) -> bool:
        """Stop a request."""
        return await self._engine.cancel(name, index)

    async def props(self) -> Props:
        """Return the properties and the features of the engine."""
        return await self._engine.props()

    async def aclose(self) -> None:
        """Close nothing: the engine serves the next attempt, too."""
