"""Tests of background work: when it waits, and what does not wait."""

import asyncio

import pytest

from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.inference.request import Infill
from lsp_harness.process.background_permit import CHECKS_REASON, OFF_REASON, RETRY_S, BackgroundPermit
from lsp_harness.process.machine_load import MachineLoad
from tests.completion.test_working_ahead import FAR
from tests.harness.bench import QUICK, Bench, Make
from tests.harness.tools import make_settings

BUSY = "other programs use 2.0 of 2 cores"
PLACE = FAR + "def area(r):\n    return <|>\n"


class FakeLoad(MachineLoad):
    """A load that a test sets, and a sleep that a test ends."""

    def __init__(self, reason: str = BUSY) -> None:
        super().__init__()
        self.reason = reason
        self.asleep, self.awake = asyncio.Event(), asyncio.Event()
        self.slept_s: list[float] = []

    def measure(self) -> str:
        return self.reason

    def begin(self) -> None:
        pass

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.asleep.set()
        await self.awake.wait()

    def relieve(self) -> None:
        self.reason = ""
        self.awake.set()


def use_machine_load(b: Bench, load: FakeLoad) -> None:
    """Let the harness of a bench work on a machine with this load."""
    permit = b.harness.services.background
    permit.load, permit.sleep = load, load.sleep


def list_evaluated_prefixes(b: Bench) -> list[str]:
    return [request.context.prefix for request in b.engine.background_requests if isinstance(request, Infill)]


async def test_only_the_short_prompt_is_evaluated_under_load(bench: Make) -> None:
    b, load = bench(config=QUICK, works_ahead=True), FakeLoad()
    use_machine_load(b, load)
    src = b.open(PLACE)
    b.harness.completions.warm(src.document.uri, src.cursor)
    await load.asleep.wait()
    [short] = list_evaluated_prefixes(b)
    status = (await b.harness.status())["background"]
    assert status == {"when": "yield", "why": BUSY, "waiting": 1}
    b.engine.begun_ahead.clear()
    load.relieve()
    await b.engine.begun_ahead.wait()
    assert [len(prefix) > len(short) for prefix in list_evaluated_prefixes(b)] == [False, True]
    assert load.slept_s == [RETRY_S]
    assert (await b.harness.status())["background"] == {"when": "yield", "why": None, "waiting": 0}


async def test_a_request_of_the_user_never_waits(bench: Make) -> None:
    b, load = bench("3 * r", {"text": " + 1", "background": True}, config=QUICK, works_ahead=True), FakeLoad()
    use_machine_load(b, load)
    src = b.open(PLACE)
    snapshot = b.harness.snapshot(src.document.uri)
    assert [found.text for found in await b.harness.completions.complete(snapshot, src.cursor)] == ["3 * r"]
    # what follows the suggestion is not
    await load.asleep.wait()
    assert list_evaluated_prefixes(b) == []
    load.relieve()
    await b.engine.ended_ahead.wait()
    assert len(list_evaluated_prefixes(b)) == 1


@pytest.mark.parametrize(("when", "count"), [("always", 2), ("never", 0)])
async def test_the_setting_decides_whether_the_load_matters(bench: Make, when: str, count: int) -> None:
    b, load = bench(config=make_settings(QUICK, background={"when": when}), works_ahead=True), FakeLoad()
    use_machine_load(b, load)
    src = b.open(PLACE)
    b.harness.completions.warm(src.document.uri, src.cursor)
    if count:
        await b.engine.ended_ahead.wait()
        state = b.harness.documents.get(src.document.uri).find_part(DocumentCompletions)
        assert state
        await state.prefetch.wait_until_idle()
    else:
        await asyncio.sleep(0)
    assert (len(list_evaluated_prefixes(b)), load.slept_s) == (count, [])
    why = (await b.harness.status())["background"]["why"]
    assert why == (OFF_REASON if when == "never" else None)


async def test_a_remote_engine_does_not_wait_for_the_load_of_this_machine(bench: Make) -> None:
    b, load = bench(config=make_settings(QUICK, engine={"url": "http://h"}), works_ahead=True), FakeLoad()
    use_machine_load(b, load)
    assert (await b.harness.status())["background"]["why"] is None


async def test_a_wait_that_is_cancelled_is_not_counted_any_more() -> None:
    load = FakeLoad()
    permit = BackgroundPermit(lambda: "yield", load, load.sleep)
    task = asyncio.ensure_future(permit.wait())
    await load.asleep.wait()
    assert permit.waiting_count == 1
    task.cancel()
    await asyncio.wait({task})
    assert permit.waiting_count == 0


async def test_only_work_that_can_wait_longest_waits_for_the_checks_of_edits() -> None:
    load = FakeLoad("")
    permit = BackgroundPermit(lambda: "yield", load, load.sleep)
    with permit.count_checks():
        await permit.wait()
        task = asyncio.ensure_future(permit.wait(is_after_checks=True))
        await load.asleep.wait()
        assert await permit.find_refusal(is_after_checks=True) == CHECKS_REASON
    load.awake.set()
    await task
    assert load.slept_s == [RETRY_S]


async def test_the_setting_always_also_means_during_checks() -> None:
    permit = BackgroundPermit(lambda: "always")
    with permit.count_checks():
        await permit.wait(is_after_checks=True)
