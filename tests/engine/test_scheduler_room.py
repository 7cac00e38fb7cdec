"""Tests of requests for which there is no room. Each step waits for the test."""

import asyncio
import threading
from typing import Any, cast

import pytest

from lsp_harness.engine.cache.host_cache import HostCache
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import ModelRuntime
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.errors import EngineBusy

from .conftest import CURVE
from .scheduling import GatedLlama, make_request, read_all_ends, wait_until


async def test_a_full_queue_refuses_requests_at_once(scheduler: Scheduler, gated_llama: GatedLlama):
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request(name))) for name in "abc"]
    await wait_until(lambda: scheduler.pending == 3)

    for priority in ("normal", "background"):
        with pytest.raises(EngineBusy, match="3 requests"):
            await read_all_ends(scheduler, make_request("d"), priority)
    # less urgent ones keep nobody out
    tasks += [asyncio.create_task(read_all_ends(scheduler, make_request(name), "interactive")) for name in "def"]
    await wait_until(lambda: scheduler.pending == 6)
    with pytest.raises(EngineBusy, match="3 requests"):
        await read_all_ends(scheduler, make_request("g"), "interactive")
    gated_llama.open.set()
    await asyncio.gather(*tasks)
    await wait_until(lambda: scheduler.pending == 0)
    assert await read_all_ends(scheduler, make_request("d")) == ["limit"]


async def test_a_request_that_takes_all_cells_does_not_block_completions(gated_llama: GatedLlama):
    llama = gated_llama.llama
    gated_llama.kv = KvCache(llama, CacheLimits(cells=llama.n_ctx, slots=llama.n_seq, spare_cells=256, spare_slots=1))
    scheduler = Scheduler(ModelRuntime(cast("Any", gated_llama), gated_llama.kv, StepCost(CURVE)))
    chat = asyncio.create_task(read_all_ends(scheduler, make_request("chat", gated_llama.kv.context_length - 22)))
    many = asyncio.create_task(read_all_ends(scheduler, make_request("many", 5, n=4)))
    await gated_llama.at_work.wait()
    typing = asyncio.create_task(read_all_ends(scheduler, make_request("typing", 3), "interactive"))
    await wait_until(lambda: scheduler.pending == 3)
    gated_llama.open.set()

    assert await typing == ["limit"]
    assert not chat.done()
    # one step was at work, and one of the other's may follow it
    assert next(at for at, step in enumerate(gated_llama.log) if "typing" in step) <= 2
    for task in (chat, many):
        task.cancel()
    await asyncio.gather(chat, many, return_exceptions=True)
    await asyncio.to_thread(scheduler.close)


async def test_a_waiting_large_request_lets_smaller_requests_of_users_pass(gated_llama: GatedLlama):
    gated_llama.kv = KvCache(
        gated_llama.llama,
        CacheLimits(cells=gated_llama.llama.n_ctx, slots=gated_llama.llama.n_seq, spare_cells=256, spare_slots=2),
    )
    scheduler = Scheduler(ModelRuntime(cast("Any", gated_llama), gated_llama.kv, StepCost(CURVE)))
    chat = asyncio.create_task(read_all_ends(scheduler, make_request("chat", gated_llama.kv.context_length - 1)))
    await gated_llama.at_work.wait()
    large = asyncio.create_task(read_all_ends(scheduler, make_request("large", 400), "interactive"))
    await wait_until(lambda: scheduler.pending == 2)
    small = asyncio.create_task(read_all_ends(scheduler, make_request("small", 3), "interactive"))
    await wait_until(lambda: scheduler.pending == 3)
    gated_llama.open.set()

    assert await small == ["limit"]
    assert not any("large" in step for step in gated_llama.log)
    chat.cancel()
    assert await large == ["limit"]
    await asyncio.to_thread(scheduler.close)


async def test_a_request_is_tried_at_once_while_another_waits_for_cells(
    gated_llama: GatedLlama, monkeypatch: pytest.MonkeyPatch
):
    gated_llama.kv = KvCache(
        gated_llama.llama,
        CacheLimits(cells=gated_llama.llama.n_ctx, slots=gated_llama.llama.n_seq, spare_cells=256, spare_slots=2),
    )
    scheduler = Scheduler(ModelRuntime(cast("Any", gated_llama), gated_llama.kv, StepCost(CURVE)))
    chat = asyncio.create_task(read_all_ends(scheduler, make_request("chat", gated_llama.kv.context_length - 1)))
    await gated_llama.at_work.wait()
    acquire, arrived, is_waiting = gated_llama.kv.acquire, threading.Event(), threading.Event()

    def slowly(*args: Any, **kwargs: Any) -> Any:
        if not kwargs["urgent"] and kwargs["client"] == "fix" and not arrived.is_set():
            # A key comes while the fix is refused for lack of room.
            is_waiting.set()
            arrived.wait(10)
        return acquire(*args, **kwargs)

    monkeypatch.setattr(gated_llama.kv, "acquire", slowly)
    fix = asyncio.create_task(read_all_ends(scheduler, make_request("fix", 100)))
    gated_llama.open.set()
    await asyncio.to_thread(is_waiting.wait)
    key = asyncio.create_task(read_all_ends(scheduler, make_request("key", 3), "interactive"))
    await wait_until(lambda: scheduler.pending == 3)
    arrived.set()

    assert await key == ["limit"]
    assert not chat.done()
    for task in (chat, fix):
        task.cancel()
    await asyncio.gather(chat, fix, return_exceptions=True)
    await asyncio.to_thread(scheduler.close)


async def test_a_request_waits_for_cells_of_a_full_cache(scheduler: Scheduler, gated_llama: GatedLlama):
    gated_llama.open.set()
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request(name, 600))) for name in "ab"]

    assert await asyncio.gather(*tasks) == [["limit"]] * 2
    # together they would need more cells than there are
    assert all(len(step) == 1 for step in gated_llama.log)


async def test_an_idle_engine_frees_cells_for_parked_sequences(gated_llama: GatedLlama):
    gated_llama.open.set()
    gated_llama.kv = KvCache(
        gated_llama.llama, CacheLimits(cells=gated_llama.llama.n_ctx, slots=gated_llama.llama.n_seq, fast_cells=256)
    )
    host_cache = HostCache(gated_llama.llama, gated_llama.llama.n_ctx)
    scheduler = Scheduler(
        ModelRuntime(cast("Llama", gated_llama), gated_llama.kv, StepCost(CURVE), host_cache=host_cache)
    )
    for name in ("a", "b b", "c c c"):
        await read_all_ends(scheduler, make_request(name, prompt=100))
    await wait_until(lambda: len(host_cache.sequences) == 2)
    await asyncio.to_thread(scheduler.close)

    assert [slot.client for slot in gated_llama.kv.sequences] == ["c c c"]
