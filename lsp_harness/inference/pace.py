"""How fast this machine is, as the engine measured it, and what of a completion fits the user's patience.

`completion.latency_ms` is about the first text: it bounds what of a prompt is evaluated after a jump. When writing has gone
on for `SOON` times as long, the end of a line ends it: more lines are worth less than these are now. A line that is not
complete is waited for `PATIENCE` times as long, because seven tokens in 400 ms would help nobody.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, cast

from lsp_harness.config.schema import Completion
from lsp_harness.errors import HarnessError
from lsp_harness.inference.backends.backend import NO_INFILL_KEY
from lsp_harness.inference.client import Engine

LINE_END_FACTOR = 2
STOP_FACTOR = 5
MIN_LINE_TOKENS = 16
"""Tokens that are waited for however slow the machine: fewer are rarely a line."""
DEFAULT_STEP_MS = 50.0
PACE_LIFETIME_S = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Tokens a second; a decode step's milliseconds; the number of candidates that is cheapest each; how prompts end.

    The defaults stand for an engine that does not say: a slow prompt, and no token limit but the user's (0).
    """

    prompt_per_second: float = 120.0
    generated_per_second: float = 0.0
    step_ms: float = DEFAULT_STEP_MS
    candidates: int = 0
    appends: bool = False
    """Prompts of this engine end with the text before the cursor, so that typing only appends to them."""
    no_holes: str = ""
    """Why its model fills no holes, where it only follows instructions."""

    yields: bool = True
    """It keeps work ahead apart from what is waited for. On a server that does not, that work would be in the way, and on
    some it would be paid for."""

    @property
    def fills(self) -> bool:
        return not self.no_holes

    @classmethod
    def of(cls, props: dict[str, Any]) -> "Pace":
        """From `/props`; what is missing or no positive number there is the default."""
        usual, raw = cls(), props.get("curve")
        curve = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        steps = curve.get("decode_ms")
        step = cast("dict[str, Any]", steps).get("1") if isinstance(steps, dict) else None
        return cls(
            _positive_or_default(curve.get("prompt_per_second"), usual.prompt_per_second),
            _positive_or_default(curve.get("generated_per_second"), usual.generated_per_second),
            _positive_or_default(step, usual.step_ms),
            int(_positive_or_default(curve.get("candidates"), usual.candidates)),
            props.get("fim_order") == "suffix-first",
            _infill_problem(props),
        )

    def budget_ms(self, settings: Completion) -> float:
        """For evaluating a prompt, so that the first token is there in time; at least half of the time is for it."""
        return max(settings.latency_ms - self.step_ms, settings.latency_ms / 2)

    def affordable(self, settings: Completion) -> int:
        """Prompt tokens that can be evaluated in that time."""
        return int(self.prompt_per_second * self.budget_ms(settings) / 1000)

    def lines_ms(self, settings: Completion) -> int:
        """When the end of a line ends generation, counted from the first token."""
        return LINE_END_FACTOR * settings.latency_ms

    def writing_ms(self, settings: Completion) -> int:
        """When generation is stopped wherever it is, counted from the first token."""
        least = MIN_LINE_TOKENS / self.generated_per_second * 1000 if self.generated_per_second else 0
        return int(max(STOP_FACTOR * settings.latency_ms, least))

    def n_predict(self, settings: Completion) -> int:
        """The token limit with which generation ends near that time by itself."""
        if not self.generated_per_second:
            return settings.max_tokens
        reached = round(self.generated_per_second * self.writing_ms(settings) / 1000)
        return min(settings.max_tokens, max(MIN_LINE_TOKENS, reached))


def _positive_or_default(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else default


def _infill_problem(props: dict[str, Any]) -> str:
    """What the client found, or that a part of a hole has no token; a server that does not say is believed to know."""
    tokens = props.get("fim_tokens")
    known = cast("dict[str, Any]", tokens) if isinstance(tokens, dict) else {}
    given = [known.get(name) for name in ("pre", "suf", "mid")]
    if any(isinstance(token, int) and token < 0 for token in given):
        return "this model has no fill-in-the-middle; choose one that has (lsp-harness model list)"
    return str(props.get(NO_INFILL_KEY) or "")


class PaceMonitor:
    """Asks the engine for its pace at the first request and again after a while, as it corrects its figures."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._pace = Pace()
        self._until = 0.0

    async def now(self) -> Pace:
        """The pace; the last known one while the engine does not answer, which the request itself will tell."""
        if self._clock() >= self._until:
            with suppress(HarnessError):
                props = await self._engine.props()
                self._pace = replace(Pace.of(props.raw), yields=bool(props.features.get("priority")))
                self._until = self._clock() + PACE_LIFETIME_S
        return self._pace
