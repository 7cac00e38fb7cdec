"""Who goes first, who is stopped, and what one broken request does to the others. The model is a gate."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any, cast

import pytest

from lsp_harness.errors import EngineBusy, EngineError, EngineRefused, EngineUnavailable
from lsp_harness.inference.generate import Work
from lsp_harness.inference.request import Chunk, Priority, Sampling
from lsp_harness.inference.scheduler import Scheduler


class Gate:
    """A model whose steps are logged, and wait for `open` where a test wants them to."""

    def __init__(self) -> None:
        self.should_abort: Callable[[], bool] = lambda: False
        self.log: list[tuple[str, int | str]] = []
        self.loop = asyncio.get_running_loop()
        self.at_work = asyncio.Event()
        self.open = threading.Event()

    def run(self, work: Work, emit: Callable[[Chunk], None], cancelled: Callable[[], bool]) -> Iterator[None]:
        name, count = str(work.forced, "ascii"), len(work.tokens)
        if name == "refused":
            raise EngineRefused("the prompt is wrong")
        try:
            for number in range(count):
                if name == "broken" and number == 1:
                    raise ZeroDivisionError("oh")
                self.log.append((name, number))
                emit(Chunk(f"{name}{number}"))
                self.loop.call_soon_threadsafe(self.at_work.set)
                self.open.wait()
                yield
                if cancelled():
                    emit(Chunk("", "cancelled"))
                    return
            emit(Chunk("", "limit"))
        finally:
            self.log.append((name, "end"))


def work(name: str, steps: int = 2) -> Work:
    return Work([0] * steps, Sampling(), name.encode())


@pytest.fixture
async def gate() -> Gate:
    return Gate()


@pytest.fixture
async def scheduler(gate: Gate) -> AsyncIterator[Scheduler]:
    scheduler = Scheduler(gate, gate.run, limit=3)
    yield scheduler
    gate.open.set()
    await asyncio.to_thread(scheduler.close)


async def all_of(scheduler: Scheduler, item: Work, priority: Priority = "normal") -> list[str]:
    return [chunk.text or str(chunk.stop) async for chunk in scheduler.submit(item, priority)]


async def until(condition: Callable[[], bool]) -> None:
    """Turns of the loop, not time; the test run's own limit ends it."""
    while not condition():  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0)


async def test_chunks_come_in_order(scheduler: Scheduler, gate: Gate):
    gate.open.set()

    assert await all_of(scheduler, work("a", 3)) == ["a0", "a1", "a2", "limit"]
    await until(lambda: scheduler.pending == 0)


async def test_the_interactive_overtakes_the_background_between_steps(scheduler: Scheduler, gate: Gate):
    slow = asyncio.create_task(all_of(scheduler, work("slow", 3), "background"))
    await gate.at_work.wait()
    others = [asyncio.create_task(all_of(scheduler, work(name), name)) for name in ("normal", "interactive")]
    await until(lambda: scheduler.pending == 3)
    gate.open.set()

    assert await slow == ["slow0", "slow1", "slow2", "limit"]
    await asyncio.gather(*others)
    assert [name for name, number in gate.log if number != "end"] == [
        *("slow", "interactive", "interactive", "normal", "normal", "slow", "slow")
    ]


async def test_equals_go_in_the_order_they_came(scheduler: Scheduler, gate: Gate):
    tasks: list[asyncio.Task[list[str]]] = []
    for name in "abc":
        tasks.append(asyncio.create_task(all_of(scheduler, work(name))))
        await until(lambda: scheduler.pending == len(tasks))
    gate.open.set()
    await asyncio.gather(*tasks)

    assert [name for name, number in gate.log if number == "end"] == ["a", "b", "c"]


async def test_leaving_the_answer_stops_the_work_at_its_next_step(scheduler: Scheduler, gate: Gate):
    async with aclosing(cast("Any", scheduler.submit(work("long", 1000), "normal"))) as chunks:
        assert (await anext(chunks)).text == "long0"
    assert gate.should_abort(), "an evaluation under way is told too"
    gate.open.set()
    await until(lambda: scheduler.pending == 0)

    assert gate.log == [("long", 0), ("long", "end")]


async def test_who_left_before_his_turn_is_never_served(scheduler: Scheduler, gate: Gate):
    first = asyncio.create_task(all_of(scheduler, work("first")))
    await gate.at_work.wait()
    second = asyncio.create_task(all_of(scheduler, work("second")))
    await until(lambda: scheduler.pending == 2)
    second.cancel()
    await asyncio.wait({second})
    gate.open.set()
    await first
    await until(lambda: scheduler.pending == 0)

    assert {name for name, _ in gate.log} == {"first"}


async def test_a_full_queue_is_said_at_once(scheduler: Scheduler, gate: Gate):
    tasks = [asyncio.create_task(all_of(scheduler, work(name))) for name in "abc"]
    await until(lambda: scheduler.pending == 3)

    with pytest.raises(EngineBusy, match="3 requests"):
        await all_of(scheduler, work("d"), "interactive")
    gate.open.set()
    await asyncio.gather(*tasks)
    await until(lambda: scheduler.pending == 0)
    assert await all_of(scheduler, work("d")) == ["d0", "d1", "limit"]


async def test_one_broken_request_does_not_end_the_others(scheduler: Scheduler, gate: Gate):
    gate.open.set()

    with pytest.raises(EngineError, match="this request: oh"):
        await all_of(scheduler, work("broken"))
    with pytest.raises(EngineRefused, match="prompt is wrong"):
        await all_of(scheduler, work("refused"))
    assert await all_of(scheduler, work("a")) == ["a0", "a1", "limit"]


async def test_closing_ends_what_runs_and_what_waits(gate: Gate):
    scheduler = Scheduler(gate, gate.run)
    tasks = [asyncio.create_task(all_of(scheduler, work(name, 1000))) for name in ("running", "waiting")]
    await gate.at_work.wait()
    await until(lambda: scheduler.pending == 2)
    closing = asyncio.create_task(asyncio.to_thread(scheduler.close))
    await until(lambda: gate.should_abort())
    gate.open.set()
    await closing

    assert await asyncio.gather(*tasks) == [["running0", "cancelled"], ["cancelled"]]
    assert scheduler.pending == 0
    with pytest.raises(EngineUnavailable, match="shutting down"):
        await all_of(scheduler, work("late"))
