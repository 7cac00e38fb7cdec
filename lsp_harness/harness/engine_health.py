"""The state of the engine, read off the requests that pass through. No request is sent only to learn the state.

The state goes off → starting → ready ⇄ busy. An error leads to `failed` from anywhere, until a request is answered
again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Literal, TypeVar, cast

from lsp_harness.errors import (
    ConfigError,
    EngineBusy,
    EngineError,
    EngineRefused,
    EngineStuck,
    HarnessError,
    ModelError,
)
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Props

T = TypeVar("T")
EngineState = Literal["off", "starting", "ready", "busy", "failed"]


class ObservedEngine:
    """An `Engine` that passes requests on to another engine and knows its state.

    Args:
        engine: The engine that answers.
        on_change: Called when `state`, `message` or `model` may have changed.
        on_trouble: Called once for each time that the engine was stuck, however many requests failed by it.

    Attributes:
        message: Why the engine failed. Empty if it has not.
        model: The model that the engine reports, which may differ from the settings. Empty until it was asked.
    """

    def __init__(self, engine: Engine, on_change: Callable[[], None], on_trouble: Callable[[str], None]) -> None:
        self._engine = engine
        self._on_change = on_change
        self._on_trouble = on_trouble
        self._reported_trouble = ""
        self._running_count = 0
        self._has_answered = False
        self._has_requests = False
        self.message = ""
        self.model = ""

    @property
    def state(self) -> EngineState:
        if self.message:
            return "failed"
        if not self._has_answered:
            return "starting" if self._has_requests else "off"
        return "busy" if self._running_count else "ready"

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self._running_count += 1
        self._record_request()
        try:
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for chunk in cast("AsyncIterator[Chunk]", chunks):
                    self._record_answer()
                    yield chunk
        except HarnessError as error:
            self._record_error(error)
            raise
        finally:
            self._running_count -= 1
            self._on_change()

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._observe(self._engine.count(texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._observe(self._engine.chat_prompt(messages))

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._observe(self._engine.embed(texts, max_tokens=max_tokens, priority=priority))

    async def props(self) -> Props:
        props = await self._observe(self._engine.props())
        if props.model != self.model:
            self.model = props.model
            self._on_change()
        return props

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return await self._engine.cancel(name, index)

    async def aclose(self) -> None:
        await self._engine.aclose()

    async def _observe(self, request: Awaitable[T]) -> T:
        """Return the answer to a request, and record that it came or why it did not."""
        self._record_request()
        try:
            answer = await request
        except HarnessError as error:
            self._record_error(error)
            raise
        self._record_answer()
        return answer

    def _record_request(self) -> None:
        self._has_requests = True
        self._on_change()

    def _record_answer(self) -> None:
        if not self._has_answered or self.message:
            self._has_answered, self.message = True, ""
            self._on_change()

    def _record_error(self, error: HarnessError) -> None:
        # an engine that is busy or refuses a request works
        is_down = isinstance(error, EngineError | ModelError | ConfigError)
        if is_down and not isinstance(error, EngineBusy | EngineRefused):
            self._has_answered, self.message = False, error.message
            self._on_change()
        if isinstance(error, EngineStuck) and error.message != self._reported_trouble:
            self._reported_trouble = error.message
            self._on_trouble(error.message)
