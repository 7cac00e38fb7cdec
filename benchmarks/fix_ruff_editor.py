"""The set fix_ruff through the language server, as an editor uses it, beside the same model called once.

    python -m benchmarks.fix_ruff_editor --limit 40 --out fix_ruff_editor.jsonl

Each task is a file of its own. The editor opens it, waits for the diagnostic of `ruff server`, requests the actions
there, chooses a fix of ours, applies its edit, saves, and waits for the diagnostics of that version. ruff's own
fixes are switched off by the settings of the project (`unfixable`), as `lsp-harness eval fix_ruff` does. An answer is
right if the check of the set accepts it: the diagnostic is gone, and the code was kept.

The arm `single` is that of `lsp-harness eval`: the model rewrites the code once. Both arms use the same engine and are
in one file of results. A run with the same file continues where the last one ended.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.evaluation.attempt import Category
from benchmarks.evaluation.eval_run import RunOptions
from benchmarks.evaluation.evaluator import Evaluator
from benchmarks.evaluation.results.arm_figures import UNCHECKED, ArmFigures, compare_pairs, compute_figures
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.suites.eval_task import EvalTask, Suite
from benchmarks.evaluation.suites.suite_formats import read_suite
from benchmarks.linted_editor import CHOSEN, ON_CURSOR, Fix, LintedEditor, make_environment
from lsp_harness.config.schema import Config
from lsp_harness.inference.engine_choice import describe_model
from lsp_harness.text.edit import diff
from lsp_harness.text.position import encode

SET = "fix_ruff"
SINGLE, EDITOR = "single", "editor"
"""The arms: the model called once, and the language server."""
BASE_RULES = ("E4", "E7", "E9", "F")
"""The rules that ruff checks without settings."""
NOT_REPORTED = "ruff server did not report the diagnostic"
STILL_REPORTED = "ruff server still reports it after the save"
Row = dict[str, Any]


def make_ruff_settings(rule: str) -> str:
    """Return the settings of ruff in the folder of a task. They switch its own fixes off."""
    rules = json.dumps([*BASE_RULES, rule])
    return f'preview = true\ntarget-version = "py312"\n[lint]\nselect = {rules}\nunfixable = ["ALL"]\n'


def select_diagnostics(diagnostics: Sequence[Row], task: EvalTask) -> list[Row]:
    """Return the diagnostics with the message of a task, the nearest first.

    In preview mode, their codes are names of rules, and a second paragraph says what ruff would do.
    """
    assert task.finding
    line, message = task.finding.start[0], task.finding.message
    alike = [diagnostic for diagnostic in diagnostics if diagnostic["message"].partition("\n")[0] == message]
    return sorted(alike, key=lambda diagnostic: abs(diagnostic["range"]["start"]["line"] - line))


def count_rule(diagnostics: Sequence[Row], code: object) -> int:
    """Return how many diagnostics have the code of a rule."""
    return sum(diagnostic.get("code") == code for diagnostic in diagnostics)


async def judge(task: EvalTask, model: str, fix: Fix, text: str, *, is_reported: bool) -> TaskResult:
    """Return the result of a task.

    Args:
        task: The task.
        model: The name of the model.
        fix: The fix that was chosen.
        text: The text after it.
        is_reported: Whether the rule is still reported as often as before.
    """
    ending: Category = "cut off" if fix.is_late else "no answer"
    result = TaskResult(task.suite, task.id, EDITOR, model, "", ending, fix.reason, round(fix.wait_ms / 1000, 3))
    if fix.edit is None:
        return result
    judgement = await task.check.judge(task.answer(text))
    if judgement.missing:
        return replace(result, category="tool missing", reason=judgement.missing)
    reason = judgement.reason or (STILL_REPORTED if is_reported else "")
    changed = diff(encode(task.source), encode(text), task.target)
    result = replace(result, reason=reason, kind=fix.kind, checks=fix.checks, diff=changed)
    result = replace(result, category="pass" if judgement.passed and not is_reported else "fail")
    return replace(result, is_false_verified=result.category == "fail" and result.is_verified)


class TaskSession:
    """The tasks in one editor.

    Args:
        editor: The editor.
        root: The folder with the folders of the tasks.
        model: The name of the model.
        limit_s: The time limit of a fix.
    """

    def __init__(self, editor: LintedEditor, root: Path, model: str, limit_s: float) -> None:
        self._editor = editor
        self._root = root
        self._model = model
        self._limit_s = limit_s

    async def attempt(self, task: EvalTask) -> TaskResult:
        """Fix the diagnostic of a task as a user does."""
        editor, file = self._editor, find_file(self._root, task)
        uri = editor.open(file, task.source)
        try:
            before = await editor.diagnostics(uri) or []
            targets = select_diagnostics(before, task)
            if not targets:
                return await judge(task, self._model, Fix(reason=NOT_REPORTED), task.source, is_reported=True)
            await editor.request_actions(uri, targets[:1], ON_CURSOR)
            start_s = perf_counter()
            actions = await editor.request_actions(uri, targets[:1], CHOSEN)
            fix = await editor.choose_fix(actions, self._limit_s)
            fix = replace(fix, wait_ms=1000 * (perf_counter() - start_s))
            await editor.apply(uri, fix)
            editor.save(uri, file)
            after = await editor.diagnostics(uri) or []
            code = targets[0].get("code")
            is_reported = count_rule(after, code) >= count_rule(before, code)
            return await judge(task, self._model, fix, editor.text(uri), is_reported=is_reported)
        finally:
            editor.close(uri)


def find_file(root: Path, task: EvalTask) -> Path:
    """Return the file of a task. Each has a folder of its own, because the settings of ruff differ."""
    return root / task.id.replace("/", "-") / task.target


async def run_editor(suite: Suite, model: str, limit_s: float, file: ResultFile, env: dict[str, str]) -> None:
    """Run the tasks that have no result yet in an editor."""
    todo = [task for task in suite.tasks if file.find((task.suite, task.id, EDITOR, model, "")) is None]
    with tempfile.TemporaryDirectory(prefix="fr-") as name:
        root = Path(name).resolve()
        for task in todo:
            folder = find_file(root, task).parent
            folder.mkdir()
            assert task.finding
            (folder / "ruff.toml").write_text(make_ruff_settings(task.finding.code))
        async with LintedEditor.start(root, env) as editor:
            await editor.warm_up(root)
            session = TaskSession(editor, root, model, limit_s)
            for number, task in enumerate(todo, 1):
                result = await session.attempt(task)
                file.append(result)
                report(result, number, len(todo))


def report(result: TaskResult, done: int, total: int) -> None:
    """Show a result while the others are made."""
    text = f"{done}/{total} {result.task} {result.arm} {result.category} {result.seconds:.1f} s {result.reason}"
    print(text[:160], file=sys.stderr, flush=True)


def summarize(results: Sequence[TaskResult]) -> str:
    """Return the table with a row for each arm, their paired comparison, and the wrong answers that were verified."""
    groups = {arm: [result for result in results if result.arm == arm] for arm in (SINGLE, EDITOR)}
    figures = [compute_figures(arm, group) for arm, group in groups.items() if group]
    lines = [
        "| arm | tasks | pass | fail | no answer | cut off | median s | verified | wrong |",
        "| --- " * 9 + "|",
        *(_format_row(item) for item in figures),
        "",
    ]
    lines += [
        f"both {pair.both}, only {pair.first} {pair.only_first}, only {pair.second} {pair.only_second}, "
        f"neither {pair.neither}; p = {pair.p:.3f}"
        for pair in compare_pairs({arm: group for arm, group in groups.items() if group})
    ]
    for item in figures:
        if item.arm == EDITOR:
            lines.append("right answers: " + (", ".join(f"{n} by {kind}" for kind, n in item.kinds.items()) or "none"))
            lines += [
                f"wrong of those that passed {checks}: {wrong} of {total}"
                for checks, (wrong, total) in item.false_by_checks.items()
                if checks != UNCHECKED
            ]
    return "\n".join(lines)


def _format_row(item: ArmFigures) -> str:
    counts = " | ".join(str(item.counts[category]) for category in ("pass", "fail", "no answer", "cut off"))
    verified = f"{item.verified} | {item.false_verified}" if item.arm == EDITOR else "– | –"
    return f"| {item.arm} | {item.judged} | {counts} | {item.median_s:.1f} | {verified} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=0, help="tasks; 0 is all")
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds of a fix")
    parser.add_argument("--out", type=Path, default=Path("fix_ruff_editor.jsonl"))
    args = parser.parse_args()
    suite = read_suite(SET)
    suite = replace(suite, tasks=suite.tasks[: args.limit or None])
    file, config = ResultFile(args.out), Config()
    model = describe_model(config)
    with tempfile.TemporaryDirectory(prefix="fe-") as name:
        # the file of another task is no part of a task
        env = make_environment(Path(name).resolve() / "h", INDEX__ENABLED="false")
        # the other arm uses the same engine
        os.environ.update(env)
        options = RunOptions((SINGLE,), model, limit_s=args.time_limit)
        asyncio.run(Evaluator(suite, config, options, file, report).compare_arms())
        asyncio.run(run_editor(suite, model, args.time_limit, file, env))
    known = {task.id for task in suite.tasks}
    print(summarize([result for result in file.results if result.task in known and result.model == model]))


if __name__ == "__main__":
    main()
