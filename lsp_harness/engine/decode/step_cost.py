"""What one decode step costs on this machine, by the number of tokens in it. Measured at load, corrected while used."""

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileProblem

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128)
NEAR = 0.8
WORTH = 1.02
"""A larger number of candidates must give at least so much more tokens a second to be chosen."""


class Machine:
    """The curve `step_ms[n]`: milliseconds of a step over n tokens, as measured at load.

    How full the cache is and what else the machine does makes all of it slower: `pace` is by how much lately.
    """

    def __init__(self, step_ms: dict[int, float], move_ms: float | None = None) -> None:
        self.step_ms = dict(sorted(step_ms.items()))
        self.move_ms = move_ms
        """What it costs to move cells to other positions; None where that cannot be done."""
        self.pace = 1.0

    @classmethod
    def measured(
        cls,
        decode: Callable[[Sequence[int]], None],
        forget: Callable[[], object],
        move_ms: Callable[[], float | None] = lambda: None,
    ) -> "Machine":
        """Run steps of every size; the first of each is thrown away where it is cheap."""
        curve: dict[int, float] = {}
        decode(range(16))
        forget()
        for size in SIZES:
            times: list[float] = []
            for _ in range(3 if size <= 4 else 2):
                began = perf_counter()
                decode(range(size))
                times.append((perf_counter() - began) * 1000)
                forget()
            # a larger step costs no less: where it seems to, the smaller one was held up
            best = min(times)
            curve = {smaller: min(ms, best) for smaller, ms in curve.items()} | {size: best}
        return cls(curve, move_ms())

    @classmethod
    def remembered(cls, file: Path, key: str) -> "Machine | None":
        """The curve an earlier load measured under `key`."""
        try:
            kept = json.loads(read_text(file))[key]
            curve = {int(size): float(ms) for size, ms in kept["step_ms"].items()}
            move_ms = None if kept["move_ms"] is None else float(kept["move_ms"])
        except (FileProblem, ValueError, KeyError, AttributeError, TypeError):
            return None
        return cls(curve, move_ms) if set(SIZES) <= set(curve) and min(curve.values()) > 0 else None

    def remember(self, file: Path, key: str) -> None:
        """Keep the curve for the next load; where it cannot be kept, that one measures again."""
        try:
            kept = dict(json.loads(read_text(file)))
        except (FileProblem, ValueError, TypeError):
            kept = {}
        try:
            write_own_file(file, json.dumps(kept | {key: {"step_ms": self.step_ms, "move_ms": self.move_ms}}).encode())
        except OSError as error:
            paths.unkept("what this machine can do", paths.CACHE, file, error)

    def cost(self, tokens: int) -> float:
        """Milliseconds of a step over so many tokens, at the pace of late."""
        return self._measured(tokens) * self.pace

    @property
    def move_cost(self) -> float:
        """Milliseconds to move cells, at the pace of late."""
        return inf if self.move_ms is None else self.move_ms * self.pace

    def _measured(self, tokens: int) -> float:
        """Between measured sizes on a line, past the last one in proportion."""
        sizes = list(self.step_ms)
        if tokens >= sizes[-1]:
            return self.step_ms[sizes[-1]] * tokens / sizes[-1]
        at = bisect_left(sizes, max(1, tokens))
        if sizes[at] == tokens or at == 0:
            return self.step_ms[sizes[at]]
        low, high = sizes[at - 1], sizes[at]
        share = (tokens - low) / (high - low)
        return self.step_ms[low] + share * (self.step_ms[high] - self.step_ms[low])

    def observe(self, tokens: int, ms: float) -> None:
        """A step over `tokens` took `ms`: the pace moves a little towards it. One stall is not a pace."""
        self.pace += 0.05 * (min(ms / self._measured(tokens), 4.0) - self.pace)

    @property
    def prompt_per_second(self) -> float:
        return max(size * 1000 / ms for size, ms in self.step_ms.items()) / self.pace

    @property
    def generated_per_second(self) -> float:
        return 1000 / self.cost(1)

    def candidates(self, most: int = 8) -> int:
        """How many candidates give the most tokens a second: on a CPU some sizes cost what a smaller one does."""
        best = 1
        for n in range(2, most + 1):
            if n / self.cost(n) > WORTH * best / self.cost(best):
                best = n
        return best

    def chunk(self) -> int:
        """Tokens of a prompt to read in one step: the fewest that come near the best speed, but not just a few."""
        near = min(size for size in self.step_ms if size * 1000 / self.cost(size) >= NEAR * self.prompt_per_second)
        return max(16, near)

    def facts(self) -> dict[str, Any]:
        """For `/props`."""
        return {
            "prompt_per_second": round(self.prompt_per_second, 1),
            "generated_per_second": round(self.generated_per_second, 1),
            "decode_ms": {str(size): round(self.cost(size), 1) for size in self.step_ms},
            "move_ms": None if self.move_ms is None else round(self.move_cost, 1),
            "candidates": self.candidates(),
            "chunk": self.chunk(),
        }
