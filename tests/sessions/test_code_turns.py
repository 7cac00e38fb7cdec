"""The states of a prompt for the driver `code`: what it asks for, the plan of its edits, and what becomes of them."""

import random
import string
from collections.abc import Collection, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.plan.understanding import understand_by_facts
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import NEXT_STATES
from lsp_harness.errors import HarnessError, NoAnswer, UsageError
from lsp_harness.harness.task_locator import TaskLocator
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.verify.check import Check
from tests.sessions.conftest import OpenScripted, ask
from tests.support.rounds import count_rounds

GEO = "import math\n\n\ndef area(radius):\n    return 3 * radius\n"
GOOD = "```python\ndef area(radius):\n    return math.pi * radius ** 2\n```"
SHAPES = '''\
class Shape:
    def scale(self, factor):
        """Scales it by factor."""
        return [side * factor for side in self.sides()]


class Square(Shape):
    def scale(self, factor):
        key = {"factor": factor}
        grow = lambda factor: factor + 1
        return grow(1) * super().scale(factor=factor)[0] + key["factor"]


def double(shape: Shape):
    return shape.scale(factor=2)


def keep(shape: Shape):
    return shape.scale(1)
'''
USES = """\
from shapes import Shape


def halve(shape: Shape, factor=1):
    return shape.scale(factor=0.5) if factor else None
"""
TESTS = """\
from shapes import Square


def test_scale():
    square = Square()
    assert square.scale(factor=3)
"""


def write_files(project: Path, **files: str) -> None:
    for name, text in files.items():
        (project / f"{name}.py").write_text(text)


def read_event_data(opened: OpenSession, type: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in read_log(opened.session.log.path) if event.type == type]


def list_entered_states(opened: OpenSession) -> list[str]:
    return [data["state"] for data in read_event_data(opened, "state.entered")]


def group_outcomes_by_state(opened: OpenSession) -> dict[str, str]:
    return {data["state"]: data["outcome"] for data in read_event_data(opened, "state.exited")}


# -- intents
async def test_a_prompt_without_a_task_is_answered_with_a_list_of_possible_tasks(open_scripted: OpenScripted):
    opened = await open_scripted({"text": "other"}, driver="code")
    stopped = await ask(opened, "good morning to you")
    assert (stopped.reason, list_entered_states(opened)) == ("completed", ["UNDERSTAND", "ANSWER", "COMPLETE"])
    assert "Which code is it about" in stopped.text
    assert read_event_data(opened, "intent.chosen") == [{"intent": "other", "chooser": "model", "reason": ""}]


async def test_a_question_for_a_fact_is_answered_without_the_model(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    write_files(project, geo=GEO)
    stopped = await ask(opened, "which file defines area?")
    assert list_entered_states(opened) == ["UNDERSTAND", "ANSWER", "COMPLETE"]
    assert stopped.text.startswith("geo.py:")
    assert "function area" in stopped.text
    [intent] = read_event_data(opened, "intent.chosen")
    assert (intent["intent"], intent["chooser"]) == ("question", "facts")
    # our checks, and git, which this folder does not use
    stopped = await ask(opened, "are there any errors in geo.py?")
    assert "geo.py" in stopped.text
    with pytest.raises(HarnessError, match="git"):
        await ask(opened, "what changed?")


async def test_a_question_runs_the_tests_if_the_gate_allows_it(open_scripted: OpenScripted, project: Path):
    home = project.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'[permissions]\ntrusted_folders = ["{project}"]\n')
    opened = await open_scripted(driver="code", permission_mode="trust")
    write_files(project, geo=GEO, test_geo="from geo import area\n\n\ndef test_area():\n    assert area(1) == 3\n")
    assert (await ask(opened, "do the tests pass?")).text == "pytest: 1 passed (1 test file)"
    (project / "geo.py").write_text(GEO.replace("3", "4"))
    text = (await ask(opened, "run the tests of geo.py")).text
    assert text.startswith("pytest: 1 failed (1 test file)\n  TEST FAIL: test_area")
    # a session that may not run them, and has not done so
    opened = await open_scripted(driver="code", permission_mode="plan")
    assert (await ask(opened, "are the tests green?")).text.startswith("No tests ran: the tests may not run")


async def test_a_greeting_needs_no_folder(open_scripted: OpenScripted, monkeypatch: pytest.MonkeyPatch):
    def refuse(self: TaskLocator, uri: str = "") -> None:
        raise UsageError("this folder has no index")

    monkeypatch.setattr(TaskLocator, "open_folder", refuse)
    opened = await open_scripted({"text": "other"}, driver="code")
    assert "Which code is it about" in (await ask(opened, "good morning to you")).text


async def test_words_and_commands_are_answered_without_the_model(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    write_files(project, geo=GEO)
    assert (await ask(opened, "hello")).text.startswith("I can change code")
    assert (await ask(opened, "zebra")).text.startswith("zebra is no name and no file that this folder has. I can")
    assert (await ask(opened, "area")).text.startswith("geo.py:4  function area")
    assert "lsp-harness code -" in (await ask(opened, "rm -rf build")).text
    intents = [data["intent"] for data in read_event_data(opened, "intent.chosen")]
    assert intents == ["other", "other", "question", "other"]


async def test_a_pasted_traceback_is_repaired_where_it_says(open_scripted: OpenScripted, project: Path):
    # no word is asked for, because output of a tool is a fix
    opened = await open_scripted(*[{"text": GOOD}] * 8, driver="code", permission_mode="trust")
    write_files(project, geo=GEO)
    frame = f'  File "{project / "geo.py"}", line 5, in area'
    await ask(opened, f"Traceback (most recent call last):\n{frame}\n    return 3 * radius\nTypeError: bad radius\n")
    [intent], [place] = read_event_data(opened, "intent.chosen"), read_event_data(opened, "place.chosen")
    assert (intent["intent"], intent["chooser"]) == ("fix", "facts")
    assert (place["path"], place["symbol"]) == ("geo.py", "area")
    assert "read as “fix geo.py:5: TypeError: bad radius”" in group_outcomes_by_state(opened)["UNDERSTAND"]
    assert "math.pi" in (project / "geo.py").read_text()


async def test_the_temperature_of_the_choice_is_a_setting(open_scripted: OpenScripted, monkeypatch: pytest.MonkeyPatch):
    temperatures: list[float] = []
    for value in ("", "0.7"):
        if value:
            monkeypatch.setenv("LSP_HARNESS_GENERATION__TEMPERATURE_CLASSIFY", value)
        opened = await open_scripted({"text": "other"}, driver="code")
        await ask(opened, "good morning to you")
        engine = opened.parts.models[0].engine
        assert isinstance(engine, ScriptedEngine)
        temperatures += [request.sampling.temperature for request in engine.foreground_requests]
    assert temperatures == [0.1, 0.7]


async def test_a_question_is_answered_and_no_file_is_changed(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted({"text": "It computes an area."}, driver="code")
    write_files(project, geo=GEO)
    stopped = await ask(opened, "what does area do?")
    assert list_entered_states(opened) == ["UNDERSTAND", "LOCATE", "ANSWER", "COMPLETE"]
    # the lines come first, and then what the model says about them
    assert stopped.text.startswith("geo.py:4-5\n4  def area(radius):\n5      return 3 * radius\n\nIt computes an area.")
    assert (project / "geo.py").read_text() == GEO
    assert read_event_data(opened, "edit.proposed") == []


async def test_a_fix_is_about_a_present_finding(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted({"text": "fix"}, driver="code")
    write_files(project, geo=GEO.replace("3 * radius", "3 * radiis"))
    stopped = await ask(opened, "area fails with a NameError")
    # the name is repaired without a model
    assert (project / "geo.py").read_text() == GEO
    assert stopped.text.startswith("geo.py:4-5: ")
    assert [data["kind"] for data in read_event_data(opened, "candidate.generated")] == ["nearest name"]


async def test_a_fix_without_a_finding_is_an_edit(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(*({"text": text} for text in ("fix", GOOD, GOOD, GOOD, GOOD)), driver="code")
    write_files(project, geo=GEO)
    await ask(opened, "area returns the wrong number")
    assert "math.pi" in (project / "geo.py").read_text()


@pytest.mark.parametrize(("intent", "mends"), [("fix", {True}), ("edit", {False})])
async def test_only_a_fix_must_repair_the_failing_tests(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch, intent: str, mends: set[bool]
):
    seen: list[bool] = []
    create_checks = TurnContext.create_checks

    def spy(context: TurnContext, *finding: Any, **demand: Any) -> list[Check]:
        seen.append(context.mends_tests)
        return create_checks(context, *finding, **demand)

    monkeypatch.setattr(TurnContext, "create_checks", spy)
    replies = (intent, *(["change"] if intent == "edit" else []), GOOD, GOOD, GOOD, GOOD)
    opened = await open_scripted(*({"text": text} for text in replies), driver="code")
    write_files(project, geo=GEO)
    stopped = await ask(opened, "area returns the wrong number")
    assert set(seen) == mends
    # no test ran, so nobody says that the edit passes
    assert "form ✓, behaviour not checked (" in stopped.text
    assert " passes" not in stopped.text


@pytest.mark.parametrize(
    ("prompt", "reply", "file", "text"),
    [
        ("write a function for the edge, below area", "```python\ndef edge(radius):\n    return 6 * radius\n```",
         "geo.py", GEO + "\n\ndef edge(radius):\n    return 6 * radius\n"),
        ("write tests for area", "_of_one():\n    assert area(1) == 3", "test_geo.py",
         "from geo import area\n\n\ndef test_area_of_one():\n    assert area(1) == 3\n"),
        ("write a docstring for area", "Compute the area.", "geo.py",
         GEO.replace("    return", '    """Compute the area."""\n    return')),
    ],
)  # fmt: skip
async def test_new_code_tests_and_docstrings_are_written(
    open_scripted: OpenScripted, project: Path, prompt: str, reply: str, file: str, text: str
):
    sorting = [] if understand_by_facts(prompt) else [{"text": "generate"}]
    opened = await open_scripted(*sorting, *[{"text": reply}] * 4, driver="code")
    write_files(project, geo=GEO)
    await ask(opened, prompt)
    assert (project / file).read_text() == text


async def test_the_model_reviews_a_candidate_and_its_no_is_in_the_next_prompt(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch
):
    for key, value in (("VERIFICATION__DIFF_REVIEW", "veto"), ("GENERATION__CANDIDATES", "1")):
        monkeypatch.setenv(f"LSP_HARNESS_{key}", value)
    other = GOOD.replace("** 2", "* radius")
    replies = [{"text": text} for text in ("edit", GOOD, "NO", other, "YES")]
    replies[3]["expect"] = "REVIEW: NO"
    opened = await open_scripted(*replies, driver="code")
    write_files(project, geo=GEO)
    await ask(opened, "area returns the wrong number")
    assert (project / "geo.py").read_text().endswith("return math.pi * radius * radius\n")
    verdicts = [(data["passed"], data["outcomes"][-1]["check"]) for data in read_event_data(opened, "verify.completed")]
    assert verdicts == [(False, "review"), (True, "review")]


INDENTED = GOOD.replace("    return", "    side = radius\n        return")
UNUSED = GOOD.replace("    return", "    side = radius\n    return")
FEEDBACK = (
    "Earlier attempts failed:\n"
    "LINT: F841 Local variable `side` is assigned to but never used\n"
    "SYNTAX ERROR at line 6: unexpected indent"
)


async def test_the_next_prompt_repeats_the_lines_of_the_checks(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "2")
    opened = await open_scripted(*({"text": text} for text in ("edit", INDENTED, UNUSED, GOOD)), driver="code")
    write_files(project, geo=GEO)
    await ask(opened, "area returns the wrong number")
    engine = opened.parts.models[0].engine
    assert isinstance(engine, ScriptedEngine)
    assert prompt_text(engine.foreground_requests[-1]).rstrip().endswith(FEEDBACK)
    rejected = [data["reason"] for data in read_event_data(opened, "candidate.rejected")]
    assert [*reversed(rejected)] == FEEDBACK.splitlines()[1:]


# -- plans
async def test_a_rename_of_a_parameter_needs_no_model(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    write_files(project, shapes=SHAPES, uses=USES, test_shapes=TESTS)
    stopped = await ask(opened, "rename the parameter factor of Shape.scale to ratio")
    assert stopped.reason == "completed", stopped
    [plan] = read_event_data(opened, "plan.proposed")
    order = [(item["symbol"], item["role"]) for item in plan["items"]]
    assert order == [
        ("Shape.scale", "definition"),
        ("Square.scale", "override"),
        ("double", "caller"),
        ("halve", "caller"),
        ("test_scale", "test"),
    ]
    for number, item in enumerate(plan["items"]):
        assert all(other < number for other in item["depends_on"])
        assert bool(item["depends_on"]) == (number > 0)
    assert (project / "uses.py").read_text() == USES.replace("factor=0.5", "ratio=0.5")
    assert (project / "test_shapes.py").read_text() == TESTS.replace("factor=3", "ratio=3")
    shapes = (project / "shapes.py").read_text()
    expected = (
        SHAPES.replace("self, factor", "self, ratio")
        .replace("side * factor for", "side * ratio for")
        .replace('"factor": factor', '"factor": ratio')
        .replace("factor=factor", "ratio=ratio")
        .replace("factor=2", "ratio=2")
    )
    assert shapes == expected
    assert "5 edits: Shape.scale at shapes.py:2" in group_outcomes_by_state(opened)["PLAN"]
    assert (await opened.undo()).paths == ("shapes.py", "test_shapes.py", "uses.py")
    assert (project / "shapes.py").read_text() == SHAPES


async def test_without_plans_only_the_found_function_is_edited(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_GENERATION__PLAN", "false")
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "1")
    answer = "```python\ndef halve(shape: Shape, part=1):\n    return shape.scale(factor=0.5) if part else None\n```"
    opened = await open_scripted({"text": answer}, driver="code")
    user = "from uses import halve\n\n\ndef use(shape):\n    return halve(shape, factor=2)\n"
    write_files(project, shapes=SHAPES, uses=USES, user=user)
    await ask(opened, "rename the parameter factor of halve to part")
    assert "part=1" in (project / "uses.py").read_text()
    assert (project / "user.py").read_text() == user
    [skipped] = read_event_data(opened, "plan.skipped")
    assert skipped["reason"].startswith("one edit; generation.plan is off")


async def test_places_that_only_resemble_uses_are_named_and_not_changed(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    guess = "def shrink(thing):\n    return thing.scale(factor=0.1)\n"
    write_files(project, shapes=SHAPES, uses=USES, guess="import shapes\n\n\n" + guess)
    await ask(opened, "rename the parameter factor of Shape.scale to ratio")
    assert (project / "guess.py").read_text().endswith(guess)
    assert "Look at guess.py:5: these may mean it, too, and stay as they are" in group_outcomes_by_state(opened)["PLAN"]


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("rename the parameter side of Shape.scale to factor", "there is no parameter side"),
        ("rename the parameter factor of Shape.scale to side", "side has a meaning in this function already"),
        (
            "rename the parameter factor of Shape.grow to side",
            "Shape has no member grow; the most similar names are: scale",
        ),
        ("rename the parameter factor of scale to ratio", "scale may be one of"),
    ],
)
async def test_a_rename_that_is_not_safe_is_refused(
    open_scripted: OpenScripted, project: Path, prompt: str, message: str
):
    opened = await open_scripted(driver="code")
    write_files(project, shapes=SHAPES)
    with pytest.raises(NoAnswer, match=message):
        await ask(opened, prompt)
    assert (project / "shapes.py").read_text() == SHAPES
    assert list_entered_states(opened)[-1] == "FAILED"


AREA = "import math\n\n\ndef area(radius):\n    return math.pi * radius ** 2\n"
REPORT = "from geo import area\n\n\ndef report(radii):\n    return [area(radius) for radius in radii]\n"
SHOW = "from geo import area\n\n\ndef show():\n    print(area(1))\n"
UNIT = "```python\ndef area(radius, unit):\n    return math.pi * radius ** 2, unit\n```"
UNIT_REPORT = "```python\ndef report(radii):\n    return [area(radius, 'm') for radius in radii]\n```"
PLANNED = ("edit", "change", "keep", *[UNIT] * 4, *[UNIT_REPORT] * 4)


async def test_the_model_confirms_each_item_and_only_accepted_items_are_edited(
    open_scripted: OpenScripted, project: Path
):
    replies = [{"text": text} for text in PLANNED]
    replies[-1]["expect"] = "It is now `def area(radius, unit):`"
    opened = await open_scripted(*replies, driver="code")
    write_files(project, geo=AREA, report=REPORT, show=SHOW)
    stopped = await ask(opened, "let area take a unit and return it")
    assert stopped.text.startswith("geo.py:4-5: 2 of 2 planned edits: form ✓, behaviour not checked (parse ✓, lint ✓")
    assert [
        (item["item"], item["is_accepted"], item["by"]) for item in read_event_data(opened, "plan.item.decided")
    ] == [
        (1, True, "model"),
        (2, False, "model"),
    ]
    assert "area(radius, 'm')" in (project / "report.py").read_text()
    assert (project / "show.py").read_text() == SHOW
    [proposal] = read_event_data(opened, "edit.proposed")
    assert ["+++ b/geo.py" in proposal["diff"], "+++ b/report.py" in proposal["diff"]] == [True, True]
    assert [data["item"] for data in read_event_data(opened, "plan.item.completed")] == [0, 1]
    numbers = [data["candidate"] for data in read_event_data(opened, "candidate.generated")]
    assert len(numbers) == len(set(numbers))


async def test_a_dependent_whose_edits_fail_stays_unchanged(open_scripted: OpenScripted, project: Path):
    replies = [{"text": text} for text in (*PLANNED[:-4], *["```python\n(\n```"] * 7)]
    opened = await open_scripted(*replies, driver="code")
    write_files(project, geo=AREA, report=REPORT, show=SHOW)
    stopped = await ask(opened, "let area take a unit and return it")
    assert stopped.text.startswith("geo.py:4-5: 1 of 2 planned edits: form ✓, behaviour not checked (parse ✓, lint ✓")
    assert (project / "report.py").read_text() == REPORT
    assert "No candidate passed the checks" in read_event_data(opened, "plan.item.completed")[1]["reason"]


# -- the table
RANDOM = random.Random(31)
SIGNS = string.printable + "äß→"


def make_noise() -> str:
    return "".join(RANDOM.choice(SIGNS) for _ in range(RANDOM.randrange(40)))


@pytest.mark.parametrize(
    "right",
    [(), ("edit",), ("edit", "change"), ("edit", "change", "keep"), ("explain",), ("fix",), ("generate",)],
    ids=lambda right: "-".join(right) or "none",
)
async def test_random_answers_of_the_model_follow_the_table_of_states(
    open_scripted: OpenScripted, project: Path, right: tuple[str, ...]
):
    for _ in range(count_rounds(15)):
        replies = [{"text": text} for text in (*right, *(make_noise() for _ in range(60)))]
        opened = await open_scripted(*replies, driver="code")
        write_files(project, geo=AREA, report=REPORT, show=SHOW)
        try:
            await ask(opened, "let area take a unit and return it")
        except HarnessError:
            assert list_entered_states(opened)[-1] == "FAILED"
        entered = list_entered_states(opened)
        assert entered[0] == "UNDERSTAND"
        table: Mapping[str, Collection[str]] = {**NEXT_STATES}
        for state, following in pairwise(entered):
            assert following in table[state]
        assert not table[entered[-1]]
        assert (entered[-1] == "COMPLETE") or not read_event_data(opened, "edit.applied")


async def test_a_prompt_about_a_failing_test_is_about_the_code_under_test(open_scripted: OpenScripted, project: Path):
    """Neither the model nor the words decide that: the intent and the place are facts."""
    opened = await open_scripted(driver="code")
    write_files(project, shapes=SHAPES, test_shapes=TESTS)
    with pytest.raises(Exception, match="script has 0 replies"):
        await ask(opened, "fix the failing test test_scale")
    [intent] = read_event_data(opened, "intent.chosen")
    assert (intent["intent"], intent["chooser"]) == ("fix", "facts")
    [place] = read_event_data(opened, "place.chosen")
    assert (place["path"], place["symbol"]) == ("shapes.py", "Square.scale")
    assert (project / "test_shapes.py").read_text() == TESTS
