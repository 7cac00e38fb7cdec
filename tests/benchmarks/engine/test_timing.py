"""Tests of the measurement of a stream."""

from collections.abc import AsyncIterator
from time import perf_counter

from benchmarks.engine.timing import measure_stream
from lsp_harness.inference.request import Chunk, Usage


async def stream_chunks(*chunks: Chunk) -> AsyncIterator[Chunk]:
    for chunk in chunks:
        yield chunk


async def test_candidates_are_kept_separate_and_the_prompt_is_counted_once() -> None:
    usage = Usage(evaluated=100, generated=2)
    timing = await measure_stream(
        stream_chunks(Chunk("a", index=1), Chunk("b"), Chunk("c", "eos", usage, 0), Chunk("", "limit", usage, 1))
    )
    assert timing.texts == ("bc", "a")
    assert (timing.evaluated, timing.generated) == (100, 4)


async def test_the_first_token_is_the_first_text() -> None:
    start = perf_counter() - 1
    timing = await measure_stream(stream_chunks(Chunk(""), Chunk("a"), Chunk("", "eos")), start)
    assert 1000 <= timing.first_ms <= timing.total_ms


async def test_an_answer_without_text_has_its_first_token_at_its_end() -> None:
    timing = await measure_stream(stream_chunks(Chunk("", "eos", Usage(evaluated=3))))
    assert timing.first_ms == timing.total_ms
    assert (timing.text, timing.usage.evaluated) == ("", 3)


async def test_no_chunk_at_all_is_an_empty_answer() -> None:
    assert (await measure_stream(stream_chunks())).usages == (Usage(),)
