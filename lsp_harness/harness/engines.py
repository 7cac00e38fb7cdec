"""The engine of the settings: made when first asked, left when they name another, ended with the front end."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsp_harness.config.schema import Config
from lsp_harness.errors import ConfigError, EngineError, HarnessError

if TYPE_CHECKING:
    from lsp_harness.harness.engine_health import Observed
    from lsp_harness.inference.client import Engine
    from lsp_harness.inference.token_estimate import EstimatingEngine

LOOK_S = 2.0
"""How long somebody who only wants to know waits for an engine that runs."""
START_S = 15.0
"""The same for an engine that is started for the question."""


class Engines:
    """The engines of one client: the present one, and those of earlier settings that still have requests.

    Args:
        make: Creates an engine, with the first request that needs a model.
        changed: Called when `state` may return something else.
        trouble: Called with a sentence that the user should read once.
    """

    def __init__(
        self,
        make: "Callable[[Config], Engine]",
        changed: Callable[[], None],
        trouble: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._make = make
        self._changed = changed
        self._trouble = trouble
        self._current: Observed | None = None
        self._left: list[Observed] = []
        """Of earlier settings; requests may still be under way there."""

    def of(self, config: Config) -> "Observed":
        """The engine in use, made by these settings if there is none yet."""
        if self._current is None:
            from lsp_harness.harness.engine_health import Observed

            self._current = Observed(self._make(config), self._changed, self._trouble)
        return self._current

    @staticmethod
    def own(config: Config) -> bool:
        """Whether the settings mean an engine of ours, with a model."""
        from lsp_harness.inference.target import is_remote

        return not is_remote(config.engine) and not config.engine.script

    @staticmethod
    def loads(config: Config) -> tuple[object, ...]:
        """What of the settings makes it another engine."""
        return config.model, config.engine, config.index.embedding_model, config.index.embedding_pooling

    def leave(self) -> None:
        """The settings name another one, which takes effect with the next request."""
        if self._current:
            self._left.append(self._current)
        self._current = None

    def state(self) -> dict[str, Any]:
        """How it is, known without asking it."""
        engine = self._current
        if engine is None:
            return {"engine": "off", "message": None, "model": None}
        return {"engine": engine.state, "message": engine.message or None, "model": engine.model or None}

    async def described(self) -> dict[str, Any] | None:
        """What the engine in use says it is, or why it says nothing; None where there is none. It is not waited for long."""
        if self._current is None:
            return None
        try:
            async with asyncio.timeout(LOOK_S):
                props = await self._current.props()
        except HarnessError as error:
            return {"error": error.message}
        except TimeoutError:
            return {
                "error": self._current.message or f"it has not answered within {LOOK_S:g} s ({self._current.state})"
            }
        return {"model": props.model, "pid": props.pid, "scripted": bool(props.raw.get("scripted"))}

    async def estimating(self, config: Config) -> "EstimatingEngine":
        """The engine for a question that needs none: where it does not answer soon, its numbers are estimated."""
        from lsp_harness.inference.token_estimate import EstimatingEngine

        engine = EstimatingEngine(self.of(config), config.model.context_length if self.own(config) else 0)
        await engine.probe(LOOK_S if not self.own(config) or _runs(config) else START_S)
        return engine

    async def restart(self, config: Config) -> dict[str, Any]:
        """End the engine of the settings, and start it again. Raises ConfigError where it is not ours, EngineUnavailable where
        it does not end."""
        from lsp_harness.inference.supervisor import end_engine

        if not self.own(config):
            raise ConfigError("the settings name a remote server, which lsp-harness cannot restart")
        # before anything is waited for: the settings may name another one meanwhile
        engine = self.of(config)
        await end_engine(config)
        props = await engine.props()
        return {"model": props.model, "pid": props.pid}

    async def aclose(self) -> None:
        """Let go of all. Raises EngineError if that did not end well, the first of several."""
        self.leave()
        engines, self._left = self._left, []
        failed: EngineError | None = None
        for engine in engines:
            try:
                await engine.aclose()
            except EngineError as error:
                failed = failed or error
        if failed:
            raise failed


def _runs(config: Config) -> bool:
    """Whether an engine of these settings listens, be it stuck."""
    from lsp_harness.inference.models.model_files import resolve_model
    from lsp_harness.inference.running_engines import is_listening
    from lsp_harness.inference.supervisor import engine_address

    try:
        return is_listening(engine_address(resolve_model(config.model.path), config).socket)
    except HarnessError:
        return True
