"""The measurement of a stream of chunks.

The time to the first token ends with the first text that a user could see, or with the end of an answer without text.
Healing generates tokens that show no text; their time is included.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from lsp_harness.inference.request import Chunk, Usage


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one request in milliseconds, and the text and the usage of each candidate."""

    first_ms: float
    total_ms: float
    texts: tuple[str, ...]
    usages: tuple[Usage, ...]

    @property
    def usage(self) -> Usage:
        """Return the usage of the first candidate."""
        return self.usages[0]

    @property
    def text(self) -> str:
        """Return the text of the first candidate."""
        return self.texts[0]

    @property
    def evaluated(self) -> int:
        """Return the number of evaluated prompt tokens. Candidates share a prompt, so this is their maximum."""
        return max(usage.evaluated for usage in self.usages)

    @property
    def generated(self) -> int:
        """Return the number of generated tokens of all candidates."""
        return sum(usage.generated for usage in self.usages)


async def measure_stream(chunks: AsyncIterator[Chunk], start: float | None = None) -> Timing:
    """Read a stream to its end, and return its times. `start` is a value of `perf_counter`, by default now."""
    start = perf_counter() if start is None else start
    first: float | None = None
    texts: dict[int, str] = {}
    usages: dict[int, Usage] = {}
    async with aclosing(cast("Any", chunks)) as stream:
        async for item in stream:
            chunk = cast("Chunk", item)
            if first is None and chunk.text:
                first = perf_counter()
            texts[chunk.index] = texts.get(chunk.index, "") + chunk.text
            usages[chunk.index] = chunk.usage
    end = perf_counter()
    order = sorted(texts)
    return Timing(
        ((first or end) - start) * 1000,
        (end - start) * 1000,
        tuple(texts[i] for i in order) or ("",),
        tuple(usages[i] for i in order) or (Usage(),),
    )
