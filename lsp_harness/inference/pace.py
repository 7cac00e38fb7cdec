"""The speed of the engine, and the size of a completion that fits the time limits of the user.

`completion.latency_ms` is the limit for the first text. It bounds how much of a prompt is evaluated after the cursor
jumps. After `LINE_END_FACTOR` times the latency, the end of a line ends the generation. After `STOP_FACTOR` times the
latency, an incomplete line ends too; an earlier end would leave about seven tokens on a slow machine, which help
nobody.
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
"""Tokens that are generated on the slowest machine too, because fewer are rarely a line."""
DEFAULT_STEP_MS = 50.0
"""Duration of a decode step on an engine that does not report it."""
PACE_LIFETIME_S = 60.0
"""Age after which the pace is asked for again, because the engine corrects its measurements."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The measured speed of an engine, and what its model can do.

    The defaults are for an engine that reports nothing: a slow prompt, and (with 0) no token limit except for that of
    the user.

    Attributes:
        prompt_per_second: Prompt tokens that are evaluated per second.
        generated_per_second: Tokens that are generated per second.
        step_ms: Milliseconds of a decode step.
        candidates: The number of candidates for which one candidate costs least.
        is_append_only: Prompts end with the text before the cursor, so typing only appends to them.
        infill_problem: Why the model cannot fill in the middle; empty if it can.
        has_priorities: The engine lets requests of the user go before background work. On another server background
            work would delay the user, and may cost money.
    """

    prompt_per_second: float = 120.0
    generated_per_second: float = 0.0
    step_ms: float = DEFAULT_STEP_MS
    candidates: int = 0
    is_append_only: bool = False
    infill_problem: str = ""
    has_priorities: bool = True

    @property
    def can_infill(self) -> bool:
        return not self.infill_problem

    @classmethod
    def from_props(cls, props: dict[str, Any]) -> "Pace":
        """Return the pace that `/props` reports. The default replaces a value that is missing or not positive."""
        default, raw = cls(), props.get("curve")
        curve = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        steps = curve.get("decode_ms")
        step = cast("dict[str, Any]", steps).get("1") if isinstance(steps, dict) else None
        return cls(
            _positive_or_default(curve.get("prompt_per_second"), default.prompt_per_second),
            _positive_or_default(curve.get("generated_per_second"), default.generated_per_second),
            _positive_or_default(step, default.step_ms),
            int(_positive_or_default(curve.get("candidates"), default.candidates)),
            props.get("fim_order") == "suffix-first",
            _infill_problem(props),
        )

    def budget_ms(self, settings: Completion) -> float:
        """Return the time for the evaluation of a prompt, at least half of the latency, so that the first token is in
        time.
        """
        return max(settings.latency_ms - self.step_ms, settings.latency_ms / 2)

    def prompt_token_limit(self, settings: Completion) -> int:
        """Return the number of prompt tokens that can be evaluated in `budget_ms`."""
        return int(self.prompt_per_second * self.budget_ms(settings) / 1000)

    def line_end_limit_ms(self, settings: Completion) -> int:
        """Return the time after the first token from which on the end of a line ends the generation."""
        return LINE_END_FACTOR * settings.latency_ms

    def generation_limit_ms(self, settings: Completion) -> int:
        """Return the time after the first token at which the generation is stopped."""
        minimum_ms = MIN_LINE_TOKENS / self.generated_per_second * 1000 if self.generated_per_second else 0
        return int(max(STOP_FACTOR * settings.latency_ms, minimum_ms))

    def n_predict(self, settings: Completion) -> int:
        """Return the token limit with which the generation ends by itself at about that time."""
        if not self.generated_per_second:
            return settings.max_tokens
        tokens = round(self.generated_per_second * self.generation_limit_ms(settings) / 1000)
        return min(settings.max_tokens, max(MIN_LINE_TOKENS, tokens))


def _positive_or_default(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else default


def _infill_problem(props: dict[str, Any]) -> str:
    """Return why the model cannot fill in the middle; empty if it can, or if the server does not report it."""
    tokens = props.get("fim_tokens")
    ids = cast("dict[str, Any]", tokens) if isinstance(tokens, dict) else {}
    required = [ids.get(name) for name in ("pre", "suf", "mid")]
    if any(isinstance(token, int) and token < 0 for token in required):
        return "this model has no fill-in-the-middle; choose one that has (lsp-harness model list)"
    return str(props.get(NO_INFILL_KEY) or "")


class PaceMonitor:
    """Asks the engine for its pace at the first request, and again after `PACE_LIFETIME_S`."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._pace = Pace()
        self._expiry = 0.0

    async def current(self) -> Pace:
        """Return the pace.

        While the engine does not answer, return the last one; the next request will report the error.
        """
        if self._clock() >= self._expiry:
            with suppress(HarnessError):
                props = await self._engine.props()
                self._pace = replace(Pace.from_props(props.raw), has_priorities=bool(props.features.get("priority")))
                self._expiry = self._clock() + PACE_LIFETIME_S
        return self._pace
