"""An engine that is asked where it answers, and estimated where it does not, for questions that need no model.

What a prompt consists of is known without one; only the exact number of tokens is not.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from lsp_harness.errors import EngineError, EngineRefused, ModelError
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props

T = TypeVar("T")


class EstimatingEngine:
    """An `Engine`. Once it has failed everything is estimated, so that numbers that belong together are of one kind.

    `n_ctx` is the context that the settings say.
    """

    def __init__(self, engine: Engine, n_ctx: int) -> None:
        self._engine = engine
        self._n_ctx = n_ctx
        self.why = ""
        """Why tokens are estimated; empty while they are counted."""

    async def look(self, limit_s: float) -> None:
        """Ask for a first answer, and estimate from now on where none comes in time."""
        try:
            async with asyncio.timeout(limit_s):
                await self.props()
        except TimeoutError:
            self.why = f"the engine does not answer within {limit_s:g} s"

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._with(lambda: self._engine.count(texts), lambda: estimate_counts(texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._with(lambda: self._engine.chat_prompt(messages), lambda: _plain(messages))

    async def props(self) -> Props:
        return await self._with(self._engine.props, lambda: Props("", self._n_ctx, 0))

    async def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]:
        """Nothing but the end, of an engine that fails before it has said anything."""
        begun = False
        if not self.why:
            try:
                async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
                return
            except EngineError as error:
                if begun or isinstance(error, EngineRefused):
                    raise
                self.why = error.message
        yield Chunk("", "limit")

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._engine.embed(texts, max_tokens=max_tokens, priority=priority)

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return await self._engine.cancel(name, index)

    async def aclose(self) -> None:
        """The engine is its owner's to close."""

    async def _with(self, ask: Callable[[], Awaitable[T]], otherwise: Callable[[], T]) -> T:
        if not self.why:
            try:
                return await ask()
            except EngineRefused:
                raise
            except (EngineError, ModelError) as error:
                self.why = error.message
        return otherwise()


def _plain(messages: Sequence[tuple[str, str]]) -> str:
    """A conversation in ChatML, which most templates are like."""
    turns = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return f"{turns}<|im_start|>assistant\n"
