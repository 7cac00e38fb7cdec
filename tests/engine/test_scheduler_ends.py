"""Tests of cancelled and failed requests and of their effect on others. Each step waits for the test."""

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest

from lsp_harness.engine.cache.kv_shift import KvShift
from lsp_harness.engine.decode.batch import Batch
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.errors import EngineError, EngineRefused, EngineUnavailable
from lsp_harness.inference.request import Owner, Sampling

from .conftest import CURVE
from .scheduling import EndRecorder, GatedLlama, make_request, read_all_ends, wait_until


async def test_a_finished_request_is_counted_and_freed_before_its_last_chunk(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    items: list[str | None] = []
    result: list[tuple[list[str | None], int]] = []

    async def look() -> None:
        # turns enough for whatever was told to arrive
        for _ in range(20):
            await asyncio.sleep(0)
        result.append((list(items), scheduler.pending))

    end_recorder.looks = lambda: asyncio.run_coroutine_threadsafe(look(), gated_llama.loop).result()
    gated_llama.open.set()
    async for chunk in scheduler.submit(make_request("a", 2), "normal"):
        items.append(chunk.stop)  # noqa: PERF401 - `look` reads it meanwhile

    assert end_recorder.ends == [("normal", "limit", 2)]
    assert result == [([None, None], 0)]
    assert items == [None, None, "limit"]


async def test_leaving_an_answer_stops_its_work_at_the_next_step(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    gated_llama.open.set()
    async with aclosing(cast("Any", scheduler.submit(make_request("long", 900), "normal"))) as chunks:
        await anext(chunks)
        gated_llama.open.clear()
        await wait_until(lambda: gated_llama.waits)
    assert gated_llama.should_abort(), "an evaluation under way is told too"
    gated_llama.open.set()
    await wait_until(lambda: scheduler.pending == 0)

    assert end_recorder.ends[0][:2] == ("normal", "cancelled")
    assert end_recorder.ends[0][2] < 900


async def test_a_request_that_is_cancelled_in_the_queue_is_never_served(scheduler: Scheduler, gated_llama: GatedLlama):
    first = asyncio.create_task(read_all_ends(scheduler, make_request("first"), "interactive"))
    await gated_llama.at_work.wait()
    second = asyncio.create_task(read_all_ends(scheduler, make_request("second")))
    await wait_until(lambda: scheduler.pending == 2)
    second.cancel()
    await asyncio.wait({second})
    gated_llama.open.set()
    await first
    await wait_until(lambda: scheduler.pending == 0)

    assert {name for step in gated_llama.log for name in step} == {"first"}


async def test_one_candidate_is_cancelled_by_its_number(scheduler: Scheduler, gated_llama: GatedLlama):
    task = asyncio.create_task(read_all_ends(scheduler, make_request("many", 5, n=3, temperature=1.0)))
    await gated_llama.at_work.wait()
    assert scheduler.cancel("many", "many", 1)
    assert not scheduler.cancel("many", "other", 1)
    assert not scheduler.cancel("many", "many", 3)
    assert not scheduler.cancel("many", "many", -1)
    assert not scheduler.cancel("else", "many", 1)
    gated_llama.open.set()

    assert await task == ["cancelled", "limit", "limit"]


async def test_a_request_is_cancelled_by_its_name(scheduler: Scheduler, gated_llama: GatedLlama):
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request(name, 5, n=2))) for name in ("one", "two")]
    await gated_llama.at_work.wait()
    await wait_until(lambda: scheduler.pending == 2)
    assert scheduler.cancel("two", "two", None)
    gated_llama.open.set()

    assert await asyncio.gather(*tasks) == [["limit"] * 2, ["cancelled"] * 2]


async def test_a_broken_request_does_not_end_the_others(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    gated_llama.open.set()
    gated_llama.broken = "broken"

    with pytest.raises(EngineError, match="this request: oh"):
        await read_all_ends(scheduler, make_request("broken"))
    with pytest.MonkeyPatch.context() as patch:
        # after the evaluation, before it is in the book
        patch.setattr(Batch, "deliver", lambda _: 1 / 0)
        with pytest.raises(EngineError, match="division"):
            await read_all_ends(scheduler, make_request("a"))
    with pytest.raises(EngineRefused, match="context_length"):
        await read_all_ends(scheduler, make_request("refused", 5000))
    assert await read_all_ends(scheduler, make_request("a")) == ["limit"]
    await wait_until(lambda: scheduler.pending == 0)
    assert [outcome for _, outcome, _ in end_recorder.ends] == ["failed", "failed", "refused", "limit"]


async def test_a_sequence_aside_survives_a_broken_step_of_another_request(gated_llama: GatedLlama):
    """The sequence has its own positions, which a clean-up by the number of tokens would cut off."""
    shift = KvShift(gated_llama.llama, gated_llama.kv, min_run_tokens=16)
    scheduler = Scheduler(
        ModelRuntime(cast("Llama", gated_llama), gated_llama.kv, StepCost(CURVE, 10.0), kv_shift=shift)
    )
    text = [n * 7 % 190 + 5 for n in range(100)]

    def request_of(*tokens: int, name: str = "a") -> TokenRequest:
        return TokenRequest((Prompt([*tokens, *text, 203]),), Sampling(n_predict=1), Owner(name), cache_reuse=None)

    gated_llama.open.set()
    assert await read_all_ends(scheduler, request_of(201)) == ["limit"]
    gated_llama.open.clear()
    gated_llama.at_work.clear()
    moving = asyncio.create_task(read_all_ends(scheduler, request_of(*[202] * 90), "background"))
    await gated_llama.at_work.wait()
    assert any(slot.is_staging for slot in gated_llama.kv.slots)
    gated_llama.broken = "broken"
    broken = asyncio.create_task(read_all_ends(scheduler, make_request("broken")))
    await wait_until(lambda: scheduler.pending == 2)
    gated_llama.open.set()
    with pytest.raises(EngineError, match="this request: oh"):
        await broken

    assert await moving == ["limit"]
    await asyncio.to_thread(scheduler.close)
    # of the second prompt only what is new in it was read
    assert sum(step.get("a", 0) for step in gated_llama.log) == 102 + 91


async def test_an_internal_error_ends_only_the_requests_of_its_step(
    scheduler: Scheduler, gated_llama: GatedLlama, monkeypatch: pytest.MonkeyPatch
):
    gated_llama.open.set()
    with monkeypatch.context() as broken:
        broken.setattr(Scheduler, "_evaluate", lambda *_: 1 / 0)
        with pytest.raises(EngineError, match="division"):
            await read_all_ends(scheduler, make_request("met"))

    assert await read_all_ends(scheduler, make_request("next")) == ["limit"]


async def test_closing_ends_running_and_waiting_requests(gated_llama: GatedLlama):
    scheduler = Scheduler(ModelRuntime(cast("Llama", gated_llama), gated_llama.kv, StepCost(CURVE)))
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request(name, 900))) for name in ("running", "waiting")]
    await gated_llama.at_work.wait()
    await wait_until(lambda: scheduler.pending == 2)
    closing = asyncio.create_task(asyncio.to_thread(scheduler.close))
    await wait_until(lambda: gated_llama.should_abort())
    gated_llama.open.set()
    await closing

    assert await asyncio.gather(*tasks) == [["cancelled"], ["cancelled"]]
    assert scheduler.pending == 0
    with pytest.raises(EngineUnavailable, match="shutting down"):
        await read_all_ends(scheduler, make_request("late"))


async def test_the_time_without_a_sign_of_the_thread_is_reported(scheduler: Scheduler, gated_llama: GatedLlama):
    assert scheduler.silent_s == 0
    # as on a GPU, where nothing is heard within a step
    first = asyncio.create_task(read_all_ends(scheduler, make_request("first")))
    await gated_llama.at_work.wait()
    before = scheduler.silent_s
    await wait_until(lambda: scheduler.silent_s > before > 0)
    # as on a CPU, where each operation is a sign
    gated_llama.abortable = True
    longest = scheduler.silent_s
    await wait_until(lambda: scheduler.silent_s < longest)
    gated_llama.open.set()
    await first
    await wait_until(lambda: scheduler.pending == 0)
    assert scheduler.silent_s == 0
