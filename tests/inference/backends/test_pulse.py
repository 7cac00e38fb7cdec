"""Tests of the watch over the engine. The duration of an answer does not make an engine count as stuck."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from lsp_harness.inference.backends.engine_pulse import EnginePulse, EngineSilent

SILENCE_S = 0.05


class FakeEngine:
    """An engine that gives a sign of life or none, and that can be ended."""

    def __init__(self) -> None:
        self.lives = True
        self.asked = asyncio.Semaphore(0)
        self.ended = 0
        self.limits: list[float] = []

    async def alive(self, limit_s: float) -> bool:
        self.limits.append(limit_s)
        self.asked.release()
        return self.lives

    async def stuck(self) -> str:
        self.ended += 1
        return f"ended {self.ended}"


@pytest.fixture
async def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
async def pulse(engine: FakeEngine) -> AsyncIterator[EnginePulse]:
    engine_pulse = EnginePulse(SILENCE_S, engine.alive, engine.stuck)
    yield engine_pulse
    await engine_pulse.aclose()


async def test_a_long_prompt_is_waited_for_while_the_engine_lives(engine: FakeEngine, pulse: EnginePulse):
    async with pulse.waiting():
        for _ in range(4):
            await engine.asked.acquire()
    assert engine.ended == 0
    # it has half of the time for its answer, at the least
    assert min(engine.limits) >= SILENCE_S / 2 * 0.99


async def test_all_waiting_requests_fail_and_the_engine_is_ended_once(engine: FakeEngine, pulse: EnginePulse):
    async def wait() -> None:
        async with pulse.waiting():
            await asyncio.Event().wait()

    engine.lives = False
    errors = await asyncio.gather(wait(), wait(), return_exceptions=True)
    assert [str(error) for error in errors] == ["ended 1", "ended 1"]
    assert all(isinstance(error, EngineSilent) for error in errors)


async def test_a_connection_that_breaks_at_the_end_of_the_engine_causes_no_second_error(
    engine: FakeEngine, pulse: EnginePulse
):
    broken = asyncio.Event()

    async def stuck() -> str:
        broken.set()
        await asyncio.sleep(0)
        return "ended"

    pulse = EnginePulse(SILENCE_S, engine.alive, stuck)

    async def breaks() -> None:
        async with pulse.waiting():
            await broken.wait()
            raise ConnectionResetError

    engine.lives = False
    with pytest.raises(EngineSilent, match="ended"):
        await breaks()
    await pulse.aclose()
    # as it is at any other time
    with pytest.raises(ConnectionResetError):
        await breaks()


async def test_an_engine_that_has_answered_is_not_probed(engine: FakeEngine, pulse: EnginePulse):
    for _ in range(3):
        async with pulse.waiting():
            await asyncio.sleep(0)
    watch = next(task for task in asyncio.all_tasks() if task.get_name() == "engine pulse")
    await watch
    assert engine.limits == []


async def test_a_cancelled_request_does_not_end_the_watch(
    engine: FakeEngine, pulse: EnginePulse, caplog: pytest.LogCaptureFixture
):
    engine.lives = False
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001), pulse.waiting():
            await asyncio.Event().wait()
    await next(task for task in asyncio.all_tasks() if task.get_name() == "engine pulse")
    assert engine.ended == 1
    assert caplog.messages == ["ended 1"]
