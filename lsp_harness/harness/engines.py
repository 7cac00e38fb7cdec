"""The engine of the settings, created with the first request, and its state, read off the requests that pass.

The state goes off → starting → ready ⇄ busy. An error leads to `failed` from anywhere, until a request is answered
again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from lsp_harness.config.schema import Config
from lsp_harness.errors import (
    ConfigError,
    EngineBusy,
    EngineError,
    EngineRefused,
    EngineStuck,
    HarnessError,
    ModelError,
)
from lsp_harness.inference.client import Engine, ForwardingEngine
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Props

if TYPE_CHECKING:
    from lsp_harness.inference.token_estimate import EstimatingEngine

T = TypeVar("T")
EngineState = Literal["off", "starting", "ready", "busy", "failed"]


class ObservedEngine(ForwardingEngine):
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
        super().__init__(engine)
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


PROPS_TIMEOUT_S = 2.0
"""How long a question about a running engine waits for it."""
START_TIMEOUT_S = 15.0
"""How long a question waits for an engine that is started for it."""


def select_engine_settings(config: Config) -> tuple[object, ...]:
    """Return the settings that belong to the engine. If one of them changes, another engine is needed."""
    return config.model, config.engine, config.index.embedding_model, config.index.embedding_pooling


class Engines:
    """The engines of one client: the current one, and those of earlier settings that still answer requests.

    Args:
        create: Creates an engine, with the first request that needs a model.
        config: Returns the present settings.
        on_change: Called when `state` may return something else.
        on_trouble: Called with a sentence that the user should read once.
    """

    def __init__(
        self,
        create: "Callable[[Config], Engine]",
        config: Callable[[], Config],
        on_change: Callable[[], None],
        on_trouble: Callable[[str], None],
    ) -> None:
        self._create = create
        self._config = config
        self._on_change = on_change
        self._on_trouble = on_trouble
        self._current: ObservedEngine | None = None
        self._replaced: list[ObservedEngine] = []
        """Engines of earlier settings. Requests may still be under way there."""

    @property
    def current(self) -> "ObservedEngine":
        """The engine of the settings, created at the first access."""
        if self._current is None:
            self._current = ObservedEngine(self._create(self._config()), self._on_change, self._on_trouble)
        return self._current

    @property
    def is_own(self) -> bool:
        """The settings name a model that an engine of this program loads."""
        from lsp_harness.inference.target import is_own_engine

        return is_own_engine(self._config())

    @property
    def is_running(self) -> bool:
        """The engine has answered a request and has not failed since."""
        return self._current is not None and self._current.state in ("ready", "busy")

    def replace(self) -> None:
        """Use another engine from the next request on, because the settings of the engine changed."""
        if self._current:
            self._replaced.append(self._current)
        self._current = None

    def state(self) -> dict[str, Any]:
        """Return the state of the engine without asking it."""
        engine = self._current
        if engine is None:
            return {"engine": "off", "message": None, "model": None}
        return {"engine": engine.state, "message": engine.message or None, "model": engine.model or None}

    async def describe(self) -> dict[str, Any] | None:
        """Return what the engine reports about itself, or why it reports nothing. None if there is no engine.

        This waits at most `PROPS_TIMEOUT_S`.
        """
        if self._current is None:
            return None
        try:
            async with asyncio.timeout(PROPS_TIMEOUT_S):
                props = await self._current.props()
        except HarnessError as error:
            return {"error": error.message}
        except TimeoutError:
            late = f"it has not answered within {PROPS_TIMEOUT_S:g} s ({self._current.state})"
            return {"error": self._current.message or late}
        return {"model": props.model, "pid": props.pid, "scripted": bool(props.raw.get("scripted"))}

    async def create_estimating_engine(self) -> "EstimatingEngine":
        """Return an engine that counts tokens, and estimates their number if the real engine does not answer soon."""
        from lsp_harness.inference.token_estimate import EstimatingEngine

        config = self._config()
        engine = EstimatingEngine(self.current, config.model.context_length if self.is_own else 0)
        await engine.probe(PROPS_TIMEOUT_S if not self.is_own or _is_listening(config) else START_TIMEOUT_S)
        return engine

    async def restart(self) -> dict[str, Any]:
        """End the engine of the settings and start it again.

        Returns:
            The `model` and the `pid` of the new engine.

        Raises:
            ConfigError: The settings name a remote server.
            EngineUnavailable: The engine does not end.
        """
        from lsp_harness.inference.supervisor import end_engine

        if not self.is_own:
            raise ConfigError("the settings name a remote server, which lsp-harness cannot restart")
        # read before anything is awaited: the settings may change meanwhile
        config, engine = self._config(), self.current
        await end_engine(config)
        props = await engine.props()
        return {"model": props.model, "pid": props.pid}

    async def aclose(self) -> None:
        """Close all engines.

        Raises:
            EngineError: An engine did not end as it should. It is the first error of several.
        """
        self.replace()
        engines, self._replaced = self._replaced, []
        first_error: EngineError | None = None
        for engine in engines:
            try:
                await engine.aclose()
            except EngineError as error:
                first_error = first_error or error
        if first_error:
            raise first_error


def _is_listening(config: Config) -> bool:
    """Return whether an engine with these settings listens on its socket. Such an engine may be stuck nevertheless."""
    from lsp_harness.inference.models.model_files import resolve_model
    from lsp_harness.inference.running_engines import is_listening
    from lsp_harness.inference.supervisor import engine_address

    try:
        return is_listening(engine_address(resolve_model(config.model.path), config).socket)
    except HarnessError:
        return True
