"""A small suite with right and wrong replies of a scripted engine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.evaluation.eval_run import EvalRun, RunOptions
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.suites.eval_task import EvalTask, Suite
from benchmarks.evaluation.suites.hidden_check import CommandCheck
from lsp_harness.inference.scripted_engine import ScriptedEngine
from tests.harness.tools import make_edit_settings

SOURCE = "def area(width, height):\n    return width + height\n"
RIGHT = "```\ndef area(width, height):\n    return width * height\n```"
WRONG = "```\ndef area(width, height):\n    return width - height\n```"
SNEAKY = "```\ndef area(width, height):\n    return 12\n```"
"""A reply that passes the visible test and fails the hidden one."""
VISIBLE = "from geo import area\n\n\ndef test_area():\n    assert area(3, 4) == 12\n"
HIDDEN = "from geo import area\n\nassert area(3, 4) == 12\nassert area(2, 5) == 10\n"
CHECK = CommandCheck({"hidden.py": HIDDEN}, ("{python}", "hidden.py"))


def make_task(name: str = "area", **changes: Any) -> EvalTask:
    """Return the task to repair `area`, with other values of some attributes."""
    values: dict[str, Any] = {
        "id": name,
        "suite": "small",
        "kind": "fix",
        "files": {"geo.py": SOURCE, "test_geo.py": VISIBLE},
        "target": "geo.py",
        "text": "The tests of area fail.",
        "check": CHECK,
        "tests": ("test_geo.py",),
        "gate": "given",
    }
    return EvalTask(**{**values, **changes})


async def run_arms(
    folder: Path,
    arms: Sequence[str],
    replies: Sequence[str | dict[str, Any]],
    *tasks: EvalTask,
    may_leave_replies: bool = False,
    **options: Any,
) -> list[TaskResult]:
    """Run arms over tasks with these replies, and write the results into the folder."""
    engine = ScriptedEngine([{"text": reply} if isinstance(reply, str) else reply for reply in replies])
    config = options.pop("config", None) or make_edit_settings(1, 0)
    run_options = RunOptions(tuple(arms), "scripted", **options)
    run = EvalRun(
        *(Suite("small", tasks or (make_task(),)), config, engine, run_options, ResultFile(folder / "out.jsonl")),
        lambda result, done, total: None,
    )
    results = await run.run()
    if not may_leave_replies:
        await engine.aclose()
    return results


def find_categories_by_arm(results: Sequence[TaskResult]) -> dict[str, str]:
    """Return arm → category."""
    return {result.arm: result.category for result in results}
