"""Items of a plan that do not depend on each other: they are written at the same time, and the model may swap them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat.chat_model import Model
from lsp_harness.coding.plan.planned_edits import find_independent, find_swappable
from lsp_harness.errors import EngineError
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.inference.request import Chunk, ModelRequest
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from tests.sessions.conftest import ask
from tests.sessions.test_code_turns import (
    AREA,
    SHOW,
    UNIT,
    group_outcomes_by_state,
    list_entered_states,
    read_event_data,
    write_files,
)
from tests.sessions.test_resumed_turns import TASK

BOTH = """\
from geo import area


def report(radii):
    return [area(radius) for radius in radii]


def total(radii):
    return sum(area(radius) for radius in radii)
"""
EDITED = {
    "report": "def report(radii):\n    unit = 'm'\n    return [area(radius, unit) for radius in radii]",
    "total": "def total(radii):\n    return sum(area(radius, 'm')[0] for radius in radii)",
    "show": "def show():\n    print(area(1, 'm'))",
}
ORDER = ["report", "total", "show"]
SWAPPED = ["geo.py", "show.py", "report.py"]


class ConcurrentEngine(ScriptedEngine):
    """Answers the requests of dependents only when all of them are in flight, the last one first.

    Args:
        words: The answers to all other requests, in order.
        order: The dependents.
        fails: The dependent whose request fails.
    """

    def __init__(self, words: Sequence[str], order: Sequence[str] = ORDER, fails: str = "") -> None:
        super().__init__([{"text": word} for word in words])
        self._order, self._fails = order, fails
        self.in_flight: set[str] = set()
        self.answered = {name: asyncio.Event() for name in order}
        self._all_in_flight = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        code = prompt_text(request).partition("The code:\n```python\n")[2]
        name = next((name for name in self._order if code.startswith(f"def {name}(")), "")
        if not name:
            async for chunk in super().stream(request):
                yield chunk
            return
        self.in_flight.add(name)
        if self.in_flight == {*self._order}:
            self._all_in_flight.set()
        await self._all_in_flight.wait()
        for later in self._order[self._order.index(name) + 1 :]:
            await self.answered[later].wait()
        self.answered[name].set()
        if name == self._fails:
            raise EngineError("the engine has died")
        yield Chunk(f"```python\n{EDITED[name]}\n```")
        yield Chunk("", "eos")


async def open_concurrent(project: Path, engine: ScriptedEngine, report: str = BOTH, **options: Any) -> OpenSession:
    project.mkdir(exist_ok=True)
    write_files(project, geo=AREA, report=report, show=SHOW)
    options = {"cwd": str(project), "driver": "code", **options}
    return await open_session(SessionOptions(**options), models=[Model("scripted", engine)])


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "1")


async def test_callers_are_written_at_once_and_applied_in_the_order_of_the_plan(project: Path):
    engine = ConcurrentEngine(["edit", *["change"] * 3, UNIT])
    opened = await open_concurrent(project, engine)
    stopped = await ask(opened, TASK)
    assert engine.in_flight == {*ORDER}
    assert stopped.text.startswith("geo.py:4-5: 4 of 4 planned edits: form ✓, behaviour not checked (parse ✓, lint ✓")

    # `total` moved, because `report` has a line more, although it was complete first
    assert (project / "report.py").read_text() == (
        f"from geo import area\n\n\n{EDITED['report']}\n\n\n{EDITED['total']}\n"
    )
    assert EDITED["show"] in (project / "show.py").read_text()
    assert [data["item"] for data in read_event_data(opened, "plan.item.completed")] == [0, 1, 2, 3]
    generated = [
        (data["candidate"], data["item"], data["text"].split("(")[0])
        for data in read_event_data(opened, "candidate.generated")
    ]
    # each may have a retry, too, and so a number for it
    assert sorted(generated) == [(1, 0, "def area"), (2, 1, "def report"), (6, 2, "def total"), (10, 3, "def show")]
    assert "Producing candidate 6 for total at report.py:9..." in [
        data.get("reason") for data in read_event_data(opened, "state.entered")
    ]
    assert list_entered_states(opened)[-1] == "COMPLETE"
    await opened.aclose()


async def test_an_item_whose_engine_fails_ends_the_others_and_keeps_finished_items(project: Path):
    engine = ConcurrentEngine(["edit", *["change"] * 3, UNIT], fails="total")
    opened = await open_concurrent(project, engine)
    with pytest.raises(EngineError, match="the engine has died"):
        await ask(opened, TASK)
    assert list_entered_states(opened)[-1] == "FAILED"
    assert [data["item"] for data in read_event_data(opened, "plan.item.completed")] == [0, 1]
    assert (project / "report.py").read_text() == BOTH
    await opened.aclose()


async def test_the_model_swaps_an_item_with_the_next_one(project: Path):
    only_report = BOTH.partition("\n\n\ndef total")[0] + "\n"
    engine = ConcurrentEngine(["edit", "swap", "change", UNIT], ["show", "report"])
    opened = await open_concurrent(project, engine, report=only_report)
    opened.record_start()
    await ask(opened, TASK)
    decided = [
        (data["item"], data["is_accepted"], data["is_swapped"]) for data in read_event_data(opened, "plan.item.decided")
    ]
    assert decided == [(1, True, True), (2, True, False)]
    assert [data["path"] for data in read_event_data(opened, "plan.item.completed")] == SWAPPED
    assert (
        group_outcomes_by_state(opened)["PLAN"] == "3 edits: area at geo.py:4, show at show.py:5, report at report.py:5"
    )
    first, second = engine.foreground_requests[1:3]
    assert "Next caller show: print(area(1))" in prompt_text(first)
    # the last item has no next one
    assert ["Next" in prompt_text(second).rpartition("user: ")[2], '"swap"' in second.sampling.grammar] == [
        False,
        False,
    ]
    assert '"swap"' in first.sampling.grammar
    log = opened.session.log.path
    await opened.aclose()

    # another process goes on after the first decision, and asks only about the other item
    cut = [event.type for event in read_log(log)].index("plan.item.decided") + 1
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:cut]))
    engine = ConcurrentEngine(["change", UNIT], ["show", "report"])
    again = await open_concurrent(project, engine, report=only_report, resume=opened.session.id)
    again.record_start()
    await again.session.finish_waiting()
    assert [data["path"] for data in read_event_data(again, "plan.item.completed")] == SWAPPED
    assert list_entered_states(again)[-1] == "COMPLETE"
    await again.aclose()


def make_item(path: str, symbol: str, *depends_on: int) -> PlannedItem:
    return PlannedItem(path, symbol, 1, "caller", "", depends_on)


def test_an_item_is_not_written_together_with_its_dependent():
    items = [
        make_item("a.py", "area"),
        make_item("a.py", "Shape.scale", 0),
        make_item("b.py", "Shape", 0),
        make_item("a.py", "Shape", 0),
        make_item("a.py", "test", 0, 1, 2, 3),
    ]
    # `Shape.scale` is a part of `Shape` in the same file
    assert find_independent(items) == [[0], [1, 2], [3], [4]]
    assert [find_swappable(items, number) for number in (0, 1, 3, 4)] == [None, items[2], None, None]
