"""Tests of the order of requests. Each step waits for the test."""

import asyncio
from typing import Any, cast

import pytest

from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.scheduler import Preemption, Scheduler
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.inference.request import Owner, Sampling

from .conftest import CURVE
from .scheduling import EndRecorder, GatedLlama, make_request, read_all_ends, wait_until


async def test_chunks_arrive_in_order_and_the_end_is_reported_once(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    gated_llama.open.set()
    chunks = [chunk async for chunk in scheduler.submit(make_request("a", 3), "normal")]

    assert [chunk.usage.generated for chunk in chunks] == [1, 2, 3, 3]
    assert [chunk.stop for chunk in chunks] == [None, None, None, "limit"]
    assert end_recorder.ends == [("normal", "limit", 3)]


async def test_an_interactive_request_overtakes_a_background_request_between_steps(
    scheduler: Scheduler, gated_llama: GatedLlama
):
    slow = asyncio.create_task(read_all_ends(scheduler, make_request("slow", 3), "background"))
    await gated_llama.at_work.wait()
    assert not scheduler.is_busy()
    others = [
        asyncio.create_task(read_all_ends(scheduler, make_request(name), name)) for name in ("normal", "interactive")
    ]
    await wait_until(lambda: scheduler.pending == 3)
    assert scheduler.is_busy()
    gated_llama.open.set()

    assert await slow == ["limit"]
    await asyncio.gather(*others)
    assert [list(step) for step in gated_llama.log] == [
        [name] for name in ("slow", "interactive", "interactive", "normal", "normal", "slow", "slow")
    ]


async def test_less_urgent_requests_join_a_step_that_costs_no_more(gated_llama: GatedLlama):
    scheduler = Scheduler(
        ModelRuntime(cast("Llama", gated_llama), gated_llama.kv, StepCost(dict.fromkeys(CURVE, 10.0)))
    )
    slow = asyncio.create_task(read_all_ends(scheduler, make_request("slow", 5), "background"))
    await gated_llama.at_work.wait()
    quick = asyncio.create_task(read_all_ends(scheduler, make_request("quick", 3), "interactive"))
    await wait_until(lambda: scheduler.pending == 2)
    gated_llama.open.set()
    await asyncio.gather(slow, quick)
    await asyncio.to_thread(scheduler.close)

    assert [set(step) for step in gated_llama.log] == [
        {"slow"},
        {"quick"},
        *([{"quick", "slow"}] * 2),
        *([{"slow"}] * 2),
    ]


async def test_requests_of_equal_priority_share_their_steps(scheduler: Scheduler, gated_llama: GatedLlama):
    first = asyncio.create_task(read_all_ends(scheduler, make_request("a", 4)))
    await gated_llama.at_work.wait()
    others = [asyncio.create_task(read_all_ends(scheduler, make_request(name, 4))) for name in "bc"]
    await wait_until(lambda: scheduler.pending == 3)
    gated_llama.open.set()
    await asyncio.gather(first, *others)

    assert [set(step) for step in gated_llama.log[:3]] == [{"a"}, {"a", "b"}, {"a", "b", "c"}]
    assert sum(map(len, gated_llama.log)) == 12


async def test_prompts_of_two_clients_are_read_in_turn(scheduler: Scheduler, gated_llama: GatedLlama):
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request(name, 0, prompt=100))) for name in "ab"]
    await wait_until(lambda: scheduler.pending == 2)
    gated_llama.open.set()
    await asyncio.gather(*tasks)

    assert [next(iter(step)) for step in gated_llama.log[:6]] == ["a", "b", "a", "b", "a", "b"]


async def test_a_background_prompt_yields_to_an_interactive_request_and_is_read_later(
    scheduler: Scheduler, gated_llama: GatedLlama
):
    gated_llama.abortable = True
    slow = asyncio.create_task(read_all_ends(scheduler, make_request("slow", 1, prompt=90), "background"))
    await gated_llama.at_work.wait()
    quick = asyncio.create_task(read_all_ends(scheduler, make_request("quick", 1), "interactive"))
    await wait_until(lambda: bool(gated_llama.log) and "aborted" in gated_llama.log[0])
    gated_llama.open.set()

    assert await quick == await slow == ["limit"]
    assert gated_llama.log[0] == {"aborted": 32}
    assert gated_llama.log[1] == {"quick": 1}
    # smaller after it was given up, then larger again
    assert [step["slow"] for step in gated_llama.log[2:]] == [16, 32, 32, 10]


async def test_healing_in_the_background_yields_to_an_interactive_request(
    scheduler: Scheduler, gated_llama: GatedLlama
):
    gated_llama.abortable = True
    gated_llama.open.set()
    await read_all_ends(scheduler, make_request("warm", 0, prompt=8), "background")
    gated_llama.open.clear()
    gated_llama.log.clear()
    gated_llama.at_work.clear()
    tokens = make_request("warm", prompt=8).prompts[0].tokens
    ahead = TokenRequest((Prompt(tokens, b"abeinrst"),), Sampling(n_predict=0), Owner("warm", "warm"))
    warm = asyncio.create_task(read_all_ends(scheduler, ahead, "background"))
    await gated_llama.at_work.wait()
    quick = asyncio.create_task(read_all_ends(scheduler, make_request("quick", 1), "interactive"))
    await wait_until(lambda: bool(gated_llama.log) and "aborted" in gated_llama.log[0])
    gated_llama.open.set()

    assert await quick == await warm == ["limit"]
    assert gated_llama.log[:3] == [{"aborted": 1}, {"quick": 1}, {"warm": 1}]


async def test_a_prompt_does_not_yield_if_the_urgent_request_needs_the_same_part(
    scheduler: Scheduler, gated_llama: GatedLlama
):
    warm = asyncio.create_task(read_all_ends(scheduler, make_request("same", 0, prompt=32), "background"))
    await gated_llama.at_work.wait()
    tokens = make_request("same", prompt=32).prompts[0].tokens
    token_request = TokenRequest(
        (Prompt([1, 2]), Prompt([*tokens, 7])), Sampling(n_predict=1), Owner("key"), budget_ms=1.0
    )
    key = asyncio.create_task(read_all_ends(scheduler, token_request, "interactive"))
    await wait_until(lambda: scheduler.pending == 2)
    assert not gated_llama.should_abort()
    gated_llama.open.set()
    await asyncio.gather(warm, key)

    assert gated_llama.log == [{"same": 32}, {"key": 1}]


async def test_a_request_yields_if_the_urgent_one_can_take_a_shorter_prompt(
    scheduler: Scheduler, gated_llama: GatedLlama
):
    gated_llama.abortable = True
    warm = asyncio.create_task(read_all_ends(scheduler, make_request("same", 0, prompt=90), "background"))
    await gated_llama.at_work.wait()
    tokens = make_request("same", prompt=90).prompts[0].tokens
    token_request = TokenRequest(
        (Prompt([*tokens, 7]), Prompt([1, 2])), Sampling(n_predict=1), Owner("key"), budget_ms=1.0
    )
    key = asyncio.create_task(read_all_ends(scheduler, token_request, "interactive"))
    await wait_until(lambda: bool(gated_llama.log) and "aborted" in gated_llama.log[0])
    gated_llama.open.set()
    await asyncio.gather(warm, key)

    assert gated_llama.log[:2] == [{"aborted": 32}, {"key": 2}]


async def test_a_prompt_that_was_postponed_for_long_is_read_next(
    scheduler: Scheduler, gated_llama: GatedLlama, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Preemption, "MAX_READING_DELAY_S", 0.0)
    slow = asyncio.create_task(read_all_ends(scheduler, make_request("slow", 0, prompt=32), "background"))
    await gated_llama.at_work.wait()
    quick = asyncio.create_task(read_all_ends(scheduler, make_request("quick", 1), "interactive"))
    await wait_until(lambda: scheduler.pending == 2)
    assert not gated_llama.should_abort()
    gated_llama.open.set()
    await asyncio.gather(slow, quick)

    assert gated_llama.log == [{"slow": 32}, {"quick": 1}]


async def test_the_tokens_of_all_candidates_are_counted(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    gated_llama.open.set()
    assert await read_all_ends(scheduler, make_request("a", steps=3, n=4)) == ["limit"] * 4
    assert end_recorder.ends == [("normal", "limit", 12)]


async def test_tokens_of_each_candidate_are_counted(
    scheduler: Scheduler, gated_llama: GatedLlama, end_recorder: EndRecorder
):
    gated_llama.open.set()
    tokens = make_request("a", prompt=8).prompts[0].tokens
    token_request = TokenRequest(
        (Prompt(tokens, b"abeinrst"),), Sampling(n_predict=1, n=2, lookup=False), Owner("a", "a")
    )
    usages = [chunk.usage async for chunk in scheduler.submit(token_request, "normal") if chunk.stop]
    await wait_until(lambda: bool(end_recorder.usages))
    [usage] = end_recorder.usages

    assert min(usage.spelled for usage in usages) > 0
    assert usage.evaluated == len(tokens) + sum(usage.spelled for usage in usages)


async def test_a_client_with_many_prompts_gets_no_more_steps_than_another(gated_llama: GatedLlama):
    scheduler = Scheduler(ModelRuntime(cast("Any", gated_llama), gated_llama.kv, StepCost(CURVE)))
    tasks = [asyncio.create_task(read_all_ends(scheduler, make_request("many", 1, prompt=n))) for n in (2, 3, 4, 5)]
    await gated_llama.at_work.wait()
    tasks.append(asyncio.create_task(read_all_ends(scheduler, make_request("one", 1))))
    await wait_until(lambda: scheduler.pending == 5)
    gated_llama.open.set()
    await asyncio.gather(*tasks)
    await asyncio.to_thread(scheduler.close)

    order = [client for step in gated_llama.log for client in step]
    # its prompt is read right after the part that was being read
    assert order.index("one") == 1, order
