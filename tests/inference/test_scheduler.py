"""Who goes first, who is stopped, and what one broken request does to the others. Each step waits for the test."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

import pytest

from lsp_harness.errors import EngineBusy, EngineError, EngineRefused, EngineUnavailable
from lsp_harness.inference.decode.batch import Batch
from lsp_harness.inference.decode.generate import Model, Prompt, Work
from lsp_harness.inference.decode.kv import Kv
from lsp_harness.inference.decode.llama import Aborted, Llama, Row
from lsp_harness.inference.decode.machine import Machine
from lsp_harness.inference.decode.parked import Lot
from lsp_harness.inference.decode.scheduler import Scheduler
from lsp_harness.inference.decode.shift import Shift
from lsp_harness.inference.request import Owner, Priority, Sampling, Usage

from .conftest import CURVE, Bench


class Gate:
    """The tiny model; its steps are logged by their clients, and wait for `open` where a test wants them to."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.kv = Kv(llama, cells=llama.n_ctx, slots=llama.n_seq)
        self.log: list[dict[str, int]] = []
        self.loop = asyncio.get_running_loop()
        self.at_work = asyncio.Event()
        self.open = threading.Event()
        self.waits = False
        self.broken = ""
        self.abortable = False
        self.should_abort: Callable[[], bool] = lambda: False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.llama, name)

    def decode(self, rows: Sequence[Row]) -> None:
        clients = {self.kv.slots[row.seq].client: len(row.tokens) for row in rows}
        self.log.append(clients)
        self.loop.call_soon_threadsafe(self.at_work.set)
        while not self.open.wait(0.001):
            self.waits = True
            if self.abortable and self.should_abort():
                self.log[-1] = {"aborted": self.log[-1].popitem()[1]}
                raise Aborted
        if self.broken in clients:
            raise ZeroDivisionError("oh")
        self.llama.decode(rows)


class Book:
    """Hears how requests ended."""

    def __init__(self) -> None:
        self.ends: list[tuple[Priority, str, int]] = []
        self.usages: list[Usage] = []

    def finished(
        self, priority: Priority, outcome: str, usage: Usage, waited_ms: float, first_ms: float | None, total_ms: float
    ) -> None:
        assert 0 <= waited_ms <= total_ms
        assert (first_ms is not None) == (usage.generated > 0)
        self.ends.append((priority, outcome, usage.generated))
        self.usages.append(usage)


def work(name: str, steps: int = 2, prompt: int = 1, **sampling: Any) -> Work:
    tokens = [10 + len(name) + sum(map(ord, name)) % 200] * prompt
    return Work((Prompt(tokens),), Sampling(n_predict=steps, lookup=False, **sampling), Owner(name, name))


@pytest.fixture
async def gate(machine: Bench) -> Gate:
    return Gate(machine.llama)


@pytest.fixture
async def book() -> Book:
    return Book()


@pytest.fixture
async def scheduler(gate: Gate, book: Book) -> AsyncIterator[Scheduler]:
    model = Model(cast("Llama", gate), gate.kv, Machine(CURVE))
    scheduler = Scheduler(model, limit=3, observer=book)
    yield scheduler
    gate.open.set()
    await asyncio.to_thread(scheduler.close)
    assert not any(slot.busy for slot in gate.kv.slots)


async def all_of(scheduler: Scheduler, item: Work, priority: Priority = "normal") -> list[str]:
    """What each candidate ended by, in the order of their ends."""
    return [str(chunk.stop) async for chunk in scheduler.submit(item, priority) if chunk.stop]


async def until(condition: Callable[[], bool]) -> None:
    """Turns of the loop, not time; the test run's own limit ends it."""
    while not condition():  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0)


async def test_chunks_come_in_order_and_the_end_is_told_once(scheduler: Scheduler, gate: Gate, book: Book):
    gate.open.set()
    chunks = [chunk async for chunk in scheduler.submit(work("a", 3), "normal")]

    assert [chunk.usage.generated for chunk in chunks] == [1, 2, 3, 3]
    assert [chunk.stop for chunk in chunks] == [None, None, None, "limit"]
    await until(lambda: bool(book.ends))
    assert book.ends == [("normal", "limit", 3)]


async def test_the_interactive_overtakes_the_background_between_steps(scheduler: Scheduler, gate: Gate):
    slow = asyncio.create_task(all_of(scheduler, work("slow", 3), "background"))
    await gate.at_work.wait()
    assert not scheduler.busy()
    others = [asyncio.create_task(all_of(scheduler, work(name), name)) for name in ("normal", "interactive")]
    await until(lambda: scheduler.pending == 3)
    assert scheduler.busy()
    gate.open.set()

    assert await slow == ["limit"]
    await asyncio.gather(*others)
    assert [list(step) for step in gate.log] == [
        [name] for name in ("slow", "interactive", "interactive", "normal", "normal", "slow", "slow")
    ]


async def test_where_a_larger_step_costs_nothing_the_less_urgent_ride_along(gate: Gate):
    scheduler = Scheduler(Model(cast("Llama", gate), gate.kv, Machine(dict.fromkeys(CURVE, 10.0))))
    slow = asyncio.create_task(all_of(scheduler, work("slow", 5), "background"))
    await gate.at_work.wait()
    quick = asyncio.create_task(all_of(scheduler, work("quick", 3), "interactive"))
    await until(lambda: scheduler.pending == 2)
    gate.open.set()
    await asyncio.gather(slow, quick)
    await asyncio.to_thread(scheduler.close)

    assert [set(step) for step in gate.log] == [{"slow"}, {"quick"}, *([{"quick", "slow"}] * 2), *([{"slow"}] * 2)]


async def test_equals_share_their_steps(scheduler: Scheduler, gate: Gate):
    first = asyncio.create_task(all_of(scheduler, work("a", 4)))
    await gate.at_work.wait()
    others = [asyncio.create_task(all_of(scheduler, work(name, 4))) for name in "bc"]
    await until(lambda: scheduler.pending == 3)
    gate.open.set()
    await asyncio.gather(first, *others)

    assert [set(step) for step in gate.log[:3]] == [{"a"}, {"a", "b"}, {"a", "b", "c"}]
    assert sum(map(len, gate.log)) == 12


async def test_prompts_of_two_clients_are_read_in_turn(scheduler: Scheduler, gate: Gate):
    tasks = [asyncio.create_task(all_of(scheduler, work(name, 0, prompt=100))) for name in "ab"]
    await until(lambda: scheduler.pending == 2)
    gate.open.set()
    await asyncio.gather(*tasks)

    assert [next(iter(step)) for step in gate.log[:6]] == ["a", "b", "a", "b", "a", "b"]


async def test_a_long_background_prompt_is_given_up_for_the_interactive_and_read_later(
    scheduler: Scheduler, gate: Gate
):
    gate.abortable = True
    slow = asyncio.create_task(all_of(scheduler, work("slow", 1, prompt=90), "background"))
    await gate.at_work.wait()
    quick = asyncio.create_task(all_of(scheduler, work("quick", 1), "interactive"))
    await until(lambda: bool(gate.log) and "aborted" in gate.log[0])
    gate.open.set()

    assert await quick == await slow == ["limit"]
    assert gate.log[0] == {"aborted": 32}
    assert gate.log[1] == {"quick": 1}
    # smaller after it was given up, then larger again
    assert [step["slow"] for step in gate.log[2:]] == [16, 32, 32, 10]


async def test_what_is_spelled_ahead_is_given_up_for_the_interactive_too(scheduler: Scheduler, gate: Gate):
    gate.abortable = True
    gate.open.set()
    await all_of(scheduler, work("warm", 0, prompt=8), "background")
    gate.open.clear()
    gate.log.clear()
    gate.at_work.clear()
    tokens = work("warm", prompt=8).prompts[0].tokens
    ahead = Work((Prompt(tokens, b"abeinrst"),), Sampling(n_predict=0), Owner("warm", "warm"))
    warm = asyncio.create_task(all_of(scheduler, ahead, "background"))
    await gate.at_work.wait()
    quick = asyncio.create_task(all_of(scheduler, work("quick", 1), "interactive"))
    await until(lambda: bool(gate.log) and "aborted" in gate.log[0])
    gate.open.set()

    assert await quick == await warm == ["limit"]
    assert gate.log[:3] == [{"aborted": 1}, {"quick": 1}, {"warm": 1}]


async def test_a_part_that_the_more_urgent_needs_too_is_not_given_up(scheduler: Scheduler, gate: Gate):
    warm = asyncio.create_task(all_of(scheduler, work("same", 0, prompt=32), "background"))
    await gate.at_work.wait()
    tokens = work("same", prompt=32).prompts[0].tokens
    asked = Work((Prompt([1, 2]), Prompt([*tokens, 7])), Sampling(n_predict=1), Owner("key"), budget_ms=1.0)
    key = asyncio.create_task(all_of(scheduler, asked, "interactive"))
    await until(lambda: scheduler.pending == 2)
    assert not gate.should_abort()
    gate.open.set()
    await asyncio.gather(warm, key)

    assert gate.log == [{"same": 32}, {"key": 1}]


async def test_it_is_given_up_where_a_shorter_prompt_will_do_for_the_more_urgent(scheduler: Scheduler, gate: Gate):
    gate.abortable = True
    warm = asyncio.create_task(all_of(scheduler, work("same", 0, prompt=90), "background"))
    await gate.at_work.wait()
    tokens = work("same", prompt=90).prompts[0].tokens
    asked = Work((Prompt([*tokens, 7]), Prompt([1, 2])), Sampling(n_predict=1), Owner("key"), budget_ms=1.0)
    key = asyncio.create_task(all_of(scheduler, asked, "interactive"))
    await until(lambda: bool(gate.log) and "aborted" in gate.log[0])
    gate.open.set()
    await asyncio.gather(warm, key)

    assert gate.log[:2] == [{"aborted": 32}, {"key": 2}]


async def test_a_prompt_that_was_given_up_for_long_is_read_whatever_arrives(
    scheduler: Scheduler, gate: Gate, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Scheduler, "STARVED", 0.0)
    slow = asyncio.create_task(all_of(scheduler, work("slow", 0, prompt=32), "background"))
    await gate.at_work.wait()
    quick = asyncio.create_task(all_of(scheduler, work("quick", 1), "interactive"))
    await until(lambda: scheduler.pending == 2)
    assert not gate.should_abort()
    gate.open.set()
    await asyncio.gather(slow, quick)

    assert gate.log == [{"slow": 32}, {"quick": 1}]


async def test_of_several_candidates_what_all_of_them_generated_is_told(scheduler: Scheduler, gate: Gate, book: Book):
    gate.open.set()
    assert await all_of(scheduler, work("a", steps=3, n=4)) == ["limit"] * 4
    await until(lambda: bool(book.ends))
    assert book.ends == [("normal", "limit", 12)]


async def test_what_each_candidate_spelled_is_counted(scheduler: Scheduler, gate: Gate, book: Book):
    gate.open.set()
    tokens = work("a", prompt=8).prompts[0].tokens
    asked = Work((Prompt(tokens, b"abeinrst"),), Sampling(n_predict=1, n=2, lookup=False), Owner("a", "a"))
    each = [chunk.usage async for chunk in scheduler.submit(asked, "normal") if chunk.stop]
    await until(lambda: bool(book.usages))
    [usage] = book.usages

    assert min(usage.spelled for usage in each) > 0
    assert usage.evaluated == len(tokens) + sum(usage.spelled for usage in each)


async def test_leaving_the_answer_stops_the_work_at_its_next_step(scheduler: Scheduler, gate: Gate, book: Book):
    gate.open.set()
    async with aclosing(cast("Any", scheduler.submit(work("long", 900), "normal"))) as chunks:
        await anext(chunks)
        gate.open.clear()
        await until(lambda: gate.waits)
    assert gate.should_abort(), "an evaluation under way is told too"
    gate.open.set()
    await until(lambda: scheduler.pending == 0)

    assert book.ends[0][:2] == ("normal", "cancelled")
    assert book.ends[0][2] < 900


async def test_who_left_before_his_turn_is_never_served(scheduler: Scheduler, gate: Gate):
    first = asyncio.create_task(all_of(scheduler, work("first"), "interactive"))
    await gate.at_work.wait()
    second = asyncio.create_task(all_of(scheduler, work("second")))
    await until(lambda: scheduler.pending == 2)
    second.cancel()
    await asyncio.wait({second})
    gate.open.set()
    await first
    await until(lambda: scheduler.pending == 0)

    assert {name for step in gate.log for name in step} == {"first"}


async def test_one_candidate_is_cancelled_by_its_number(scheduler: Scheduler, gate: Gate):
    task = asyncio.create_task(all_of(scheduler, work("many", 5, n=3, temperature=1.0)))
    await gate.at_work.wait()
    assert scheduler.cancel("many", "many", 1)
    assert not scheduler.cancel("many", "other", 1)
    assert not scheduler.cancel("many", "many", 3)
    assert not scheduler.cancel("many", "many", -1)
    assert not scheduler.cancel("else", "many", 1)
    gate.open.set()

    assert await task == ["cancelled", "limit", "limit"]


async def test_a_request_is_cancelled_by_its_name(scheduler: Scheduler, gate: Gate):
    tasks = [asyncio.create_task(all_of(scheduler, work(name, 5, n=2))) for name in ("one", "two")]
    await gate.at_work.wait()
    await until(lambda: scheduler.pending == 2)
    assert scheduler.cancel("two", "two", None)
    gate.open.set()

    assert await asyncio.gather(*tasks) == [["limit"] * 2, ["cancelled"] * 2]


async def test_a_full_queue_is_said_at_once(scheduler: Scheduler, gate: Gate):
    tasks = [asyncio.create_task(all_of(scheduler, work(name))) for name in "abc"]
    await until(lambda: scheduler.pending == 3)

    for priority in ("normal", "background"):
        with pytest.raises(EngineBusy, match="3 requests"):
            await all_of(scheduler, work("d"), priority)
    # less urgent ones keep nobody out
    tasks += [asyncio.create_task(all_of(scheduler, work(name), "interactive")) for name in "def"]
    await until(lambda: scheduler.pending == 6)
    with pytest.raises(EngineBusy, match="3 requests"):
        await all_of(scheduler, work("g"), "interactive")
    gate.open.set()
    await asyncio.gather(*tasks)
    await until(lambda: scheduler.pending == 0)
    assert await all_of(scheduler, work("d")) == ["limit"]


async def test_what_takes_all_there_is_keeps_nobody_from_typing(gate: Gate):
    llama = gate.llama
    gate.kv = Kv(llama, cells=llama.n_ctx, slots=llama.n_seq, spare_cells=256, spare_slots=1)
    scheduler = Scheduler(Model(cast("Any", gate), gate.kv, Machine(CURVE)))
    chat = asyncio.create_task(all_of(scheduler, work("chat", gate.kv.context - 22)))
    many = asyncio.create_task(all_of(scheduler, work("many", 5, n=4)))
    await gate.at_work.wait()
    typing = asyncio.create_task(all_of(scheduler, work("typing", 3), "interactive"))
    await until(lambda: scheduler.pending == 3)
    gate.open.set()

    assert await typing == ["limit"]
    assert not chat.done()
    # one step was at work, and one of the other's may follow it
    assert next(at for at, step in enumerate(gate.log) if "typing" in step) <= 2
    for task in (chat, many):
        task.cancel()
    await asyncio.gather(chat, many, return_exceptions=True)
    await asyncio.to_thread(scheduler.close)


async def test_a_large_request_that_waits_lets_the_smaller_ones_of_users_pass(gate: Gate):
    gate.kv = Kv(gate.llama, cells=gate.llama.n_ctx, slots=gate.llama.n_seq, spare_cells=256, spare_slots=2)
    scheduler = Scheduler(Model(cast("Any", gate), gate.kv, Machine(CURVE)))
    chat = asyncio.create_task(all_of(scheduler, work("chat", gate.kv.context - 1)))
    await gate.at_work.wait()
    large = asyncio.create_task(all_of(scheduler, work("large", 400), "interactive"))
    await until(lambda: scheduler.pending == 2)
    small = asyncio.create_task(all_of(scheduler, work("small", 3), "interactive"))
    await until(lambda: scheduler.pending == 3)
    gate.open.set()

    assert await small == ["limit"]
    assert not any("large" in step for step in gate.log)
    chat.cancel()
    assert await large == ["limit"]
    await asyncio.to_thread(scheduler.close)


async def test_what_came_while_another_found_no_room_is_tried_at_once(gate: Gate, monkeypatch: pytest.MonkeyPatch):
    gate.kv = Kv(gate.llama, cells=gate.llama.n_ctx, slots=gate.llama.n_seq, spare_cells=256, spare_slots=2)
    scheduler = Scheduler(Model(cast("Any", gate), gate.kv, Machine(CURVE)))
    chat = asyncio.create_task(all_of(scheduler, work("chat", gate.kv.context - 1)))
    await gate.at_work.wait()
    take, arrived, held = gate.kv.take, threading.Event(), threading.Event()

    def slowly(*given: Any, **more: Any) -> Any:
        if not more["urgent"] and more["client"] == "fix" and not arrived.is_set():
            # a key comes just while the fix is told that there is no room
            held.set()
            arrived.wait(10)
        return take(*given, **more)

    monkeypatch.setattr(gate.kv, "take", slowly)
    fix = asyncio.create_task(all_of(scheduler, work("fix", 100)))
    gate.open.set()
    await asyncio.to_thread(held.wait)
    key = asyncio.create_task(all_of(scheduler, work("key", 3), "interactive"))
    await until(lambda: scheduler.pending == 3)
    arrived.set()

    assert await key == ["limit"]
    assert not chat.done()
    for task in (chat, fix):
        task.cancel()
    await asyncio.gather(chat, fix, return_exceptions=True)
    await asyncio.to_thread(scheduler.close)


async def test_one_client_with_many_prompts_gets_no_more_than_another(gate: Gate):
    scheduler = Scheduler(Model(cast("Any", gate), gate.kv, Machine(CURVE)))
    tasks = [asyncio.create_task(all_of(scheduler, work("many", 1, prompt=n))) for n in (2, 3, 4, 5)]
    await gate.at_work.wait()
    tasks.append(asyncio.create_task(all_of(scheduler, work("one", 1))))
    await until(lambda: scheduler.pending == 5)
    gate.open.set()
    await asyncio.gather(*tasks)
    await asyncio.to_thread(scheduler.close)

    order = [client for step in gate.log for client in step]
    # its prompt is read right after the part that was being read
    assert order.index("one") == 1, order


async def test_who_finds_the_cache_full_waits_for_his_cells(scheduler: Scheduler, gate: Gate):
    gate.open.set()
    tasks = [asyncio.create_task(all_of(scheduler, work(name, 600))) for name in "ab"]

    assert await asyncio.gather(*tasks) == [["limit"]] * 2
    # together they would need more cells than there are
    assert all(len(step) == 1 for step in gate.log)


async def test_one_broken_request_does_not_end_the_others(scheduler: Scheduler, gate: Gate, book: Book):
    gate.open.set()
    gate.broken = "broken"

    with pytest.raises(EngineError, match="this request: oh"):
        await all_of(scheduler, work("broken"))
    with pytest.MonkeyPatch.context() as patch:
        # after the evaluation, before it is in the book
        patch.setattr(Batch, "deliver", lambda _: 1 / 0)
        with pytest.raises(EngineError, match="division"):
            await all_of(scheduler, work("a"))
    with pytest.raises(EngineRefused, match="context_length"):
        await all_of(scheduler, work("refused", 5000))
    assert await all_of(scheduler, work("a")) == ["limit"]
    await until(lambda: scheduler.pending == 0)
    assert [outcome for _, outcome, _ in book.ends] == ["failed", "failed", "refused", "limit"]


async def test_what_waits_aside_outlives_a_broken_step_of_another(gate: Gate):
    """It is at positions of its own, which a clean-up by the number of tokens would cut off."""
    shift = Shift(gate.llama, gate.kv, least=16)
    scheduler = Scheduler(Model(cast("Llama", gate), gate.kv, Machine(CURVE, 10.0), shift=shift))
    text = [n * 7 % 190 + 5 for n in range(100)]

    def asked(*tokens: int, name: str = "a") -> Work:
        return Work((Prompt([*tokens, *text, 203]),), Sampling(n_predict=1), Owner(name), cache_reuse=None)

    gate.open.set()
    assert await all_of(scheduler, asked(201)) == ["limit"]
    gate.open.clear()
    gate.at_work.clear()
    moving = asyncio.create_task(all_of(scheduler, asked(*[202] * 90), "background"))
    await gate.at_work.wait()
    assert any(slot.aside for slot in gate.kv.slots)
    gate.broken = "broken"
    broken = asyncio.create_task(all_of(scheduler, work("broken")))
    await until(lambda: scheduler.pending == 2)
    gate.open.set()
    with pytest.raises(EngineError, match="this request: oh"):
        await broken

    assert await moving == ["limit"]
    await asyncio.to_thread(scheduler.close)
    # of the second prompt only what is new in it was read
    assert sum(step.get("a", 0) for step in gate.log) == 102 + 91


async def test_a_fault_of_our_own_ends_those_it_met_and_nobody_else(
    scheduler: Scheduler, gate: Gate, monkeypatch: pytest.MonkeyPatch
):
    gate.open.set()
    with monkeypatch.context() as broken:
        broken.setattr(Scheduler, "_evaluate", lambda *_: 1 / 0)
        with pytest.raises(EngineError, match="division"):
            await all_of(scheduler, work("met"))

    assert await all_of(scheduler, work("next")) == ["limit"]


async def test_when_nobody_asks_room_is_made_for_what_is_parked(gate: Gate):
    gate.open.set()
    gate.kv = Kv(gate.llama, cells=gate.llama.n_ctx, slots=gate.llama.n_seq, hot=256)
    lot = Lot(gate.llama, gate.llama.n_ctx)
    scheduler = Scheduler(Model(cast("Llama", gate), gate.kv, Machine(CURVE), lot=lot))
    for name in ("a", "b b", "c c c"):
        await all_of(scheduler, work(name, prompt=100))
    await until(lambda: len(lot.sequences) == 2)
    await asyncio.to_thread(scheduler.close)

    assert [slot.client for slot in gate.kv.sequences] == ["c c c"]


async def test_closing_ends_what_runs_and_what_waits(gate: Gate):
    scheduler = Scheduler(Model(cast("Llama", gate), gate.kv, Machine(CURVE)))
    tasks = [asyncio.create_task(all_of(scheduler, work(name, 900))) for name in ("running", "waiting")]
    await gate.at_work.wait()
    await until(lambda: scheduler.pending == 2)
    closing = asyncio.create_task(asyncio.to_thread(scheduler.close))
    await until(lambda: gate.should_abort())
    gate.open.set()
    await closing

    assert await asyncio.gather(*tasks) == [["cancelled"], ["cancelled"]]
    assert scheduler.pending == 0
    with pytest.raises(EngineUnavailable, match="shutting down"):
        await all_of(scheduler, work("late"))
