"""The engine of the settings. It is created with the first request, and replaced when the settings name another one."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsp_harness.config.schema import Config
from lsp_harness.errors import ConfigError, EngineError, HarnessError

if TYPE_CHECKING:
    from lsp_harness.harness.engine_health import ObservedEngine
    from lsp_harness.inference.client import Engine
    from lsp_harness.inference.token_estimate import EstimatingEngine

PROPS_TIMEOUT_S = 2.0
"""How long a question about a running engine waits for it."""
START_TIMEOUT_S = 15.0
"""How long a question waits for an engine that is started for it."""


def engine_settings(config: Config) -> tuple[object, ...]:
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
            from lsp_harness.harness.engine_health import ObservedEngine

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
