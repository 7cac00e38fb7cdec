"""How the engine is doing, as told by the requests that go through: nobody asks it just to know.

off → starting → ready ⇄ busy, and failed from anywhere until something is answered again
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
State = Literal["off", "starting", "ready", "busy", "failed"]


class Observed:
    """An `Engine` that says how it is. `changed` is called whenever `state` or `message` may be another one, `trouble` once for
    each time that the engine was stuck, however many requests failed by it."""

    def __init__(self, engine: Engine, changed: Callable[[], None], trouble: Callable[[str], None]) -> None:
        self._engine = engine
        self._changed = changed
        self._trouble = trouble
        self._stuck = ""
        self._running = 0
        self._answered = False
        self._asked = False
        self.message = ""
        """Why it failed; empty otherwise."""
        self.model = ""
        """The one it says it has, which may be another than the settings name; empty until it was asked."""

    @property
    def state(self) -> State:
        if self.message:
            return "failed"
        if not self._answered:
            return "starting" if self._asked else "off"
        return "busy" if self._running else "ready"

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self._running += 1
        self._begin()
        try:
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for chunk in cast("AsyncIterator[Chunk]", chunks):
                    self._fine()
                    yield chunk
        except HarnessError as error:
            self._failed(error)
            raise
        finally:
            self._running -= 1
            self._changed()

    async def count(self, texts: Sequence[str]) -> list[int]:
        return await self._with(self._engine.count(texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return await self._with(self._engine.chat_prompt(messages))

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._with(self._engine.embed(texts, max_tokens=max_tokens, priority=priority))

    async def props(self) -> Props:
        props = await self._with(self._engine.props())
        if props.model != self.model:
            self.model = props.model
            self._changed()
        return props

    async def cancel(self, name: str, index: int | None = None) -> bool:
        return await self._engine.cancel(name, index)

    async def aclose(self) -> None:
        await self._engine.aclose()

    async def _with(self, answer: Awaitable[T]) -> T:
        self._begin()
        try:
            found = await answer
        except HarnessError as error:
            self._failed(error)
            raise
        self._fine()
        return found

    def _begin(self) -> None:
        self._asked = True
        self._changed()

    def _fine(self) -> None:
        if not self._answered or self.message:
            self._answered, self.message = True, ""
            self._changed()

    def _failed(self, error: HarnessError) -> None:
        # one that is busy or refuses a request is there and well
        down = isinstance(error, EngineError | ModelError | ConfigError)
        if down and not isinstance(error, EngineBusy | EngineRefused):
            self._answered, self.message = False, error.message
            self._changed()
        if isinstance(error, EngineStuck) and error.message != self._stuck:
            self._stuck = error.message
            self._trouble(error.message)
