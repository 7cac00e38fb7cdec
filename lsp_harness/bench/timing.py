"""The clock over a stream of chunks.

Time to first token is the time until the first text a user could see: a chunk with text, or the end of an answer that
has none. Tokens that healing generates again, which show nothing, are part of it.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from lsp_harness.inference.request import Chunk, Usage


@dataclass(frozen=True, slots=True)
class Timing:
    """One answered request, times in milliseconds; one entry of `texts` and `usages` a candidate."""

    first_ms: float
    total_ms: float
    texts: tuple[str, ...]
    usages: tuple[Usage, ...]

    @property
    def usage(self) -> Usage:
        return self.usages[0]

    @property
    def text(self) -> str:
        return self.texts[0]

    @property
    def evaluated(self) -> int:
        """Prompt tokens computed. Candidates share a prompt: what the costliest says of it."""
        return max(usage.evaluated for usage in self.usages)

    @property
    def generated(self) -> int:
        return sum(usage.generated for usage in self.usages)


async def measure_stream(chunks: AsyncIterator[Chunk], began: float | None = None) -> Timing:
    """Read a stream to its end. `began` is a `perf_counter` value, for work that was part of the request."""
    began = perf_counter() if began is None else began
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
        ((first or end) - began) * 1000,
        (end - began) * 1000,
        tuple(texts[i] for i in order) or ("",),
        tuple(usages[i] for i in order) or (Usage(),),
    )
