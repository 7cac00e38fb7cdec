"""The time of a decode step on this machine, by its number of tokens. It is measured at load and corrected in use."""

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.inference.measured_speed import compute_prompt_speed

MEASURED_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128)
"""Numbers of tokens whose steps are measured."""
MAX_REPEATS, ENOUGH_MS = 3, 250.0
"""A size is measured so often, but after so many milliseconds only again if it seems to have been delayed."""
MAX_TOKEN_SLOWDOWN = 1.2
"""A step was delayed if it took so many times the time for each token of the next smaller step, or more."""
CHUNK_SPEED_RATIO = 0.8
"""A part of a prompt must be read at this share of the best speed at least."""
MIN_CHUNK_TOKENS = 16
"""Number of tokens in a part of a prompt at least."""
MIN_CANDIDATE_GAIN = 1.02
"""A larger number of candidates must give so many times the tokens per second."""
SLOWDOWN_UPDATE_RATE = 0.05
"""Weight of the newest step in the slowdown."""
MAX_STEP_SLOWDOWN = 4.0
"""A single step counts as this many times its measured time at most, so that one stall does not change the slowdown."""


class StepCost:
    """The time of a decode step by its number of tokens.

    Args:
        measured_ms: Milliseconds of a step by its number of tokens, as measured at load.
        move_ms: Milliseconds to move cells to other positions, or None if this model cannot do that.
    """

    def __init__(self, measured_ms: dict[int, float], move_ms: float | None = None) -> None:
        self.measured_ms = dict(sorted(measured_ms.items()))
        self.move_ms = move_ms
        self.slowdown = 1.0
        """Ratio of recent times to measured times. A full cache and other processes slow all steps down."""

    @classmethod
    def measure(
        cls,
        decode: Callable[[Sequence[int]], None],
        forget: Callable[[], object],
        measure_move_ms: Callable[[], float | None] = lambda: None,
    ) -> "StepCost":
        """Run steps of every size in `MEASURED_SIZES`.

        Args:
            decode: Evaluates a number of tokens.
            forget: Drops the evaluated tokens.
            measure_move_ms: Measures the time to move cells.
        """
        measured_ms: dict[int, float] = {}
        # The first step after the load is slower than all others.
        decode(range(16))
        forget()
        likely_ms_per_token = inf
        for size in MEASURED_SIZES:
            likely_ms = MAX_TOKEN_SLOWDOWN * likely_ms_per_token * size
            times_ms: list[float] = []
            while len(times_ms) < MAX_REPEATS and (sum(times_ms) < ENOUGH_MS or min(times_ms) > likely_ms):
                start_s = perf_counter()
                decode(range(size))
                times_ms.append((perf_counter() - start_s) * 1000)
                forget()
            # A larger step never takes less time. Where it seems to, the smaller one was delayed.
            best_ms = min(times_ms)
            likely_ms_per_token = best_ms / size
            measured_ms = {smaller: min(ms, best_ms) for smaller, ms in measured_ms.items()} | {size: best_ms}
        return cls(measured_ms, measure_move_ms())

    @classmethod
    def load(cls, file: Path, key: str) -> "StepCost | None":
        """Return the times that `save` stored under `key`, or None if there are none."""
        try:
            stored = json.loads(read_text(file))[key]
            measured_ms = {int(size): float(ms) for size, ms in stored["step_ms"].items()}
            move_ms = None if stored["move_ms"] is None else float(stored["move_ms"])
        except (FileError, ValueError, KeyError, AttributeError, TypeError):
            return None
        is_complete = set(MEASURED_SIZES) <= set(measured_ms) and min(measured_ms.values()) > 0
        return cls(measured_ms, move_ms) if is_complete else None

    def save(self, file: Path, key: str) -> None:
        """Store the times for the next load. If that is not possible, the next load measures again."""
        entry = {"step_ms": self.measured_ms, "move_ms": self.move_ms}
        paths.keep_entry(file, key, entry, "what this machine can do")

    def step_ms(self, tokens: int) -> float:
        """Return the milliseconds of a step over this many tokens."""
        return self._measured_step_ms(tokens) * self.slowdown

    @property
    def move_cost_ms(self) -> float:
        """Milliseconds to move cells, infinite if this model cannot do that."""
        return inf if self.move_ms is None else self.move_ms * self.slowdown

    def observe(self, tokens: int, ms: float) -> None:
        """Correct the slowdown after a step over `tokens` that took `ms`."""
        ratio = min(ms / self._measured_step_ms(tokens), MAX_STEP_SLOWDOWN)
        self.slowdown += SLOWDOWN_UPDATE_RATE * (ratio - self.slowdown)

    @property
    def prompt_tokens_per_second(self) -> float:
        """Speed at which a prompt is read."""
        return compute_prompt_speed(self.measured_ms) / self.slowdown

    @property
    def generated_tokens_per_second(self) -> float:
        """Speed at which one candidate is generated."""
        return 1000 / self.step_ms(1)

    def best_candidate_count(self, max_candidates: int = 8) -> int:
        """Return how many candidates give most tokens per second.

        On a CPU a step of some sizes takes no longer than a smaller one.
        """
        best = 1
        for n in range(2, max_candidates + 1):
            if n / self.step_ms(n) > MIN_CANDIDATE_GAIN * best / self.step_ms(best):
                best = n
        return best

    def chunk_tokens(self) -> int:
        """Return how many tokens of a prompt to read in one step: the fewest that come close to the best speed."""
        min_speed = CHUNK_SPEED_RATIO * self.prompt_tokens_per_second
        fast_enough = min(size for size in self.measured_ms if size * 1000 / self.step_ms(size) >= min_speed)
        return max(MIN_CHUNK_TOKENS, fast_enough)

    def props(self) -> dict[str, Any]:
        """Return the field `curve` of `/props`."""
        return {
            "prompt_per_second": round(self.prompt_tokens_per_second, 1),
            "generated_per_second": round(self.generated_tokens_per_second, 1),
            "decode_ms": {str(size): round(self.step_ms(size), 1) for size in self.measured_ms},
            "move_ms": None if self.move_ms is None else round(self.move_cost_ms, 1),
            "candidates": self.best_candidate_count(),
            "chunk": self.chunk_tokens(),
        }

    def _measured_step_ms(self, tokens: int) -> float:
        """Interpolate between the measured sizes. Past the last one the time grows in proportion."""
        sizes = list(self.measured_ms)
        if tokens >= sizes[-1]:
            return self.measured_ms[sizes[-1]] * tokens / sizes[-1]
        index = bisect_left(sizes, max(1, tokens))
        if sizes[index] == tokens or index == 0:
            return self.measured_ms[sizes[index]]
        low, high = sizes[index - 1], sizes[index]
        share = (tokens - low) / (high - low)
        return self.measured_ms[low] + share * (self.measured_ms[high] - self.measured_ms[low])
