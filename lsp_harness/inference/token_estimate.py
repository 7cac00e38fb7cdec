"""An engine whose answers are estimated if it does not answer, for questions that need no model.

The parts of a prompt are known without a model; only the exact number of tokens is not.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from lsp_harness.errors import EngineError, EngineRefused, ModelError
from lsp_harness.inference.backends.backend import estimate_counts, format_chatml
from lsp_harness.inference.client import Engine, ForwardingEngine
from lsp_harness.inference.request import Chunk, ModelRequest, Props

T = TypeVar("T")


class EstimatingEngine(ForwardingEngine):
    """An `Engine` that estimates everything after the first failure, so that all numbers are of the same kind.

    Args:
        engine: The engine to ask. Its owner closes it.
        n_ctx: The context length by the settings, in tokens.
    """

    def __init__(self, engine: Engine, n_ctx: int) -> None:
        super().__init__(engine)
        self._n_ctx = n_ctx
        self.reason = ""
        """Why tokens are estimated; empty while they are counted."""

    async def probe(self, limit_s: float) -> None:
        """Ask the engine for its properties. If it does not answer in time, estimate from now on."""
        try:
            async with asyncio.timeout(limit_s):
                await self.props()
        except TimeoutError:
            self.reason = f"the engine does not answer within {limit_s:g} s"

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._ask(lambda: self._engine.count(texts), lambda: estimate_counts(texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._ask(lambda: self._engine.chat_prompt(messages), lambda: format_chatml(messages))

    async def props(self) -> Props:
        return await self._ask(self._engine.props, lambda: Props("", self._n_ctx, 0))

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the answer, or only its end if the engine fails before the first chunk."""
        has_chunks = False
        if not self.reason:
            try:
                async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                    async for chunk in chunks:
                        has_chunks = True
                        yield chunk
                return
            except EngineError as error:
                if has_chunks or isinstance(error, EngineRefused):
                    raise
                self.reason = error.message
        yield Chunk("", "limit")

    async def aclose(self) -> None:
        """Do nothing, because the owner of the engine closes it."""

    async def _ask(self, ask: Callable[[], Awaitable[T]], estimate: Callable[[], T]) -> T:
        if not self.reason:
            try:
                return await ask()
            except EngineRefused:
                raise
            except (EngineError, ModelError) as error:
                self.reason = error.message
        return estimate()
