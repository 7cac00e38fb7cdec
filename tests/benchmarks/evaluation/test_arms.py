"""The arms, with a scripted engine: real workspaces, real tests in the sandbox, and hidden checks."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.evaluation.suites.eval_task import ReportedFinding
from benchmarks.evaluation.suites.hidden_check import ProgramCheck
from tests.benchmarks.evaluation.suite import (
    CHECK,
    HIDDEN,
    RIGHT,
    SNEAKY,
    SOURCE,
    VISIBLE,
    WRONG,
    find_categories_by_arm,
    make_task,
    run_arms,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))


async def test_a_single_call_is_judged_by_the_hidden_check(tmp_path: Path):
    right, wrong = make_task("right"), make_task("wrong")
    results = await run_arms(tmp_path, ["single"], [RIGHT, WRONG], right, wrong)
    assert [result.category for result in results] == ["pass", "fail"]
    assert "+    return width * height" in results[0].diff
    assert results[0].calls == 1
    assert results[0].generated > 0
    # nothing was checked, so nothing was shown as verified
    assert not results[1].is_verified
    assert not results[1].is_false_verified


async def test_the_first_of_eight_rewrites_that_passes_the_visible_tests_is_the_answer(tmp_path: Path):
    broken = "```\ndef area(width, height:\n```"
    replies = [WRONG, broken, WRONG, RIGHT, *[WRONG] * 4]
    [best, oracle] = await run_arms(tmp_path, ["best8", "oracle8"], replies)
    assert best.category == oracle.category == "pass"
    assert best.checks["tests"] == "passed"
    assert best.is_verified
    assert best.candidates == 8
    assert len(best.reasons) == 7
    assert oracle.checks == {}


async def test_an_answer_that_only_the_visible_tests_like_is_verified_and_wrong(tmp_path: Path):
    [result] = await run_arms(tmp_path, ["best8"], [SNEAKY])
    assert result.category == "fail"
    assert result.is_false_verified


async def test_no_answer_is_no_failure(tmp_path: Path):
    [best, oracle] = await run_arms(tmp_path, ["best8", "oracle8"], [WRONG] * 8)
    assert (best.category, oracle.category) == ("no answer", "fail")
    assert best.diff == ""


async def test_the_harness_answers_as_for_a_user(tmp_path: Path):
    replies = ["return width * height"] * 2
    results = await run_arms(tmp_path, ["ladder", "oracle"], replies, may_leave_replies=True)
    assert find_categories_by_arm(results) == {"ladder": "pass", "oracle": "pass"}
    [ladder, _] = results
    assert ladder.kind == "statement fill"
    assert {"UNDERSTAND", "LOCATE", "GENERATE", "VERIFY"} <= ladder.state_seconds.keys()
    assert ladder.state_tokens["GENERATE"]["generated"] > 0


async def test_the_oracle_knows_candidates_that_were_rejected(tmp_path: Path):
    """The right candidate has an unused import, which the linter rejects, so the harness shows nothing."""
    replies = ["import os; return width * height", *["pass"] * 99]
    results = await run_arms(tmp_path, ["ladder", "oracle"], replies, may_leave_replies=True)
    assert find_categories_by_arm(results) == {"ladder": "no answer", "oracle": "pass"}
    assert "F401" in " ".join(results[0].reasons)


async def test_the_gold_answer_tests_the_check(tmp_path: Path):
    gold = {"geo.py": SOURCE.replace("+", "*")}
    results = await run_arms(tmp_path, ["gold"], [], make_task(gold=gold), make_task("other"))
    assert [result.category for result in results] == ["pass", "no answer"]


async def test_an_edit_and_a_stub_are_instructions(tmp_path: Path):
    stub = "def area(width, height):\n    pass\n"
    edit = make_task("edit", kind="edit", text="Multiply the sides.", files={"geo.py": SOURCE}, tests=())
    program = make_task("program", kind="generate", text="Write area.", files={"geo.py": stub}, tests=())
    results = await run_arms(tmp_path, ["ladder"], [RIGHT, RIGHT], edit, program)
    assert [result.category for result in results] == ["pass", "pass"]


# -- what is no failure of the model
async def test_an_attempt_ends_at_the_limit_of_time(tmp_path: Path):
    edit = make_task(kind="edit", tests=())
    replies = [{"hang": True}, {"hang": True}]
    results = await run_arms(tmp_path, ["single", "ladder"], replies, edit, limit_s=0.2, may_leave_replies=True)
    assert find_categories_by_arm(results) == {"single": "cut off", "ladder": "cut off"}
    assert "0.2 s" in results[0].reason


async def test_an_attempt_ends_at_the_limit_of_tokens(tmp_path: Path):
    [result] = await run_arms(tmp_path, ["best8"], [WRONG], token_limit=1)
    assert result.category == "cut off"


async def test_an_answer_that_the_limit_cut_is_cut_off(tmp_path: Path):
    [result] = await run_arms(tmp_path, ["single"], [{"text": "```\ndef area(", "stop": "limit"}])
    assert result.category == "cut off"


async def test_a_missing_tool_is_no_failure_and_asks_no_model(tmp_path: Path):
    absent = replace(CHECK, command=("no-such-program-here",))
    tasks = [make_task("tool", check=absent), make_task("module", modules=("no_such_module_here",))]
    results = await run_arms(tmp_path, ["single"], [], *tasks)
    assert [(result.category, result.reason) for result in results] == [
        ("tool missing", "no-such-program-here"),
        ("tool missing", "the Python module no_such_module_here"),
    ]


async def test_a_check_that_passes_on_the_untouched_files_is_an_error(tmp_path: Path):
    [result] = await run_arms(tmp_path, ["single"], [], make_task(check=ProgramCheck("geo.py")))
    assert result.category == "error"
    assert "untouched" in result.reason


async def test_an_engine_that_fails_is_an_error_and_is_tried_again(tmp_path: Path):
    [failed] = await run_arms(tmp_path, ["single"], [{"error": "it burns"}])
    assert (failed.category, failed.reason) == ("error", "it burns")
    [again] = await run_arms(tmp_path, ["single"], [RIGHT])
    assert again.category == "pass"


# -- what the harness must not see, and what must not stay
async def test_the_hidden_check_is_not_in_the_workspace(tmp_path: Path):
    """A program that looks for the check would find it in the folder of the task."""
    spy = (
        "from pathlib import Path\nfrom geo import area\n\n\ndef test_area():\n"
        "    names = {path.name for path in Path(__file__).parent.iterdir()}\n"
        "    assert 'hidden.py' not in names\n    assert area(3, 4) == 12\n"
    )
    task = make_task(files={"geo.py": SOURCE, "test_geo.py": spy})
    [result] = await run_arms(tmp_path, ["best8"], [RIGHT], task)
    assert result.category == "pass"
    assert HIDDEN not in VISIBLE


async def test_a_run_leaves_no_session_and_no_index(tmp_path: Path):
    home = tmp_path / "home"
    await run_arms(tmp_path, ["ladder"], [RIGHT])
    assert list(home.glob("sessions/*")) == []
    assert list(home.glob("cache/index/*")) == []


async def test_a_stopped_run_goes_on(tmp_path: Path):
    first, second = make_task("first"), make_task("second")
    await run_arms(tmp_path, ["single"], [RIGHT], first)
    # one reply is left, so the first task is not asked again
    results = await run_arms(tmp_path, ["single"], [WRONG], first, second)
    assert [result.category for result in results] == ["pass", "fail"]
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


async def test_a_line_that_was_half_written_is_made_again(tmp_path: Path):
    await run_arms(tmp_path, ["single"], [RIGHT])
    file = tmp_path / "out.jsonl"
    file.write_text(file.read_text()[:-20])
    [result] = await run_arms(tmp_path, ["single"], [RIGHT])
    assert result.category == "pass"
    assert len(file.read_text().splitlines()) == 1


async def test_tasks_run_at_once(tmp_path: Path):
    tasks = [make_task(name) for name in ("one", "two", "three")]
    results = await run_arms(tmp_path, ["single"], [RIGHT] * 3, *tasks, jobs=3)
    assert [result.task for result in results] == ["one", "two", "three"]


async def test_only_the_first_tasks_are_used(tmp_path: Path):
    tasks = [make_task(name) for name in ("one", "two", "three")]
    results = await run_arms(tmp_path, ["single"], [RIGHT] * 2, *tasks, limit=2)
    assert [result.task for result in results] == ["one", "two"]


async def test_a_task_about_a_diagnostic_runs_the_visible_tests_too(tmp_path: Path):
    # no edit of one token repairs the header
    source = "def area '\n    return width * height\n"
    finding = ReportedFinding((0, 9), (0, 10), "missing closing quote in string literal", "ruff", "invalid-syntax")
    task = make_task(files={"geo.py": source, "test_geo.py": VISIBLE}, finding=finding)
    [result] = await run_arms(tmp_path, ["ladder"], ["def area(width, height):"], task, may_leave_replies=True)
    assert result.category == "pass"
    assert result.checks["tests"] == "passed"
