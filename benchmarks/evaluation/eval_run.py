"""Runs the arms of an evaluation over the tasks of a suite."""

import asyncio
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import perf_counter

from benchmarks.evaluation.arm_registry import ATTEMPTS, Arm, group_arms
from benchmarks.evaluation.attempt import Attempt, Category, Cost, ToolMissing
from benchmarks.evaluation.metered_engine import TokenLimitReached
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.suites.check_process import Judgement
from benchmarks.evaluation.suites.eval_task import EvalTask, Suite
from benchmarks.evaluation.suites.hidden_check import Files, find_missing_module
from benchmarks.evaluation.task_workspace import open_task
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, ModelError
from lsp_harness.inference.client import Engine
from lsp_harness.text.edit import diff
from lsp_harness.text.position import encode
from lsp_harness.wire.version import VERSION

MAX_REASONS = 40
Report = Callable[[TaskResult, int, int], None]
"""Gets each new result, the number of results that are there, and the number of all results."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    Attributes:
        arms: The names of the arms.
        model: The name of the model in the results.
        ablation: The names of the parts that are switched off, for the results.
        limit: The number of tasks; 0 is all.
        limit_s: The time limit of an attempt.
        token_limit: The most tokens that an attempt may generate.
        jobs: The number of tasks at the same time. With more than one, the seconds are no measurement.
    """

    arms: tuple[str, ...]
    model: str
    ablation: tuple[str, ...] = ()
    limit: int = 0
    limit_s: float = 300.0
    token_limit: int = 20_000
    jobs: int = 1


@dataclass(slots=True)
class EvalRun:
    """One run. Results that the file has already are not made again.

    Attributes:
        suite: The tasks.
        config: The settings.
        engine: The model.
        options: The options.
        file: The results.
        report: Gets each new result.
    """

    suite: Suite
    config: Config
    engine: Engine
    options: RunOptions
    file: ResultFile
    report: Report
    _untouched: dict[str, Judgement] = field(default_factory=dict[str, Judgement])
    _made: int = 0
    _expected: int = 0

    async def run(self) -> list[TaskResult]:
        """Run all attempts that are missing, and return the results of this suite, arms and settings."""
        options, tasks = self.options, list(self.suite.tasks[: self.options.limit or None])
        self._expected = len(tasks) * len(options.arms)
        results: list[TaskResult] = []
        for first in range(0, len(tasks), options.jobs):
            batch = tasks[first : first + options.jobs]
            for found in await asyncio.gather(*(self._run_arms(task) for task in batch)):
                results += found
        return results

    async def _run_arms(self, task: EvalTask) -> list[TaskResult]:
        """Return the results of all arms, those of the file or new ones."""
        results: list[TaskResult] = []
        for name, arms in group_arms(self.options.arms).items():
            known = [result for arm in arms if (result := self.file.find(self._key(task, arm)))]
            if len(known) < len(arms):
                known = await self._run_task(task, name, arms)
                for result in known:
                    self.file.append(result)
                    self._made += 1
                    self.report(result, self._made, self._expected)
            else:
                self._made += len(known)
            results += known
        return results

    def _key(self, task: EvalTask, arm: Arm) -> tuple[str, str, str, str, str]:
        return task.suite, task.id, arm.name, self.options.model, " ".join(self.options.ablation)

    async def _run_task(self, task: EvalTask, name: str, arms: Sequence[Arm]) -> list[TaskResult]:
        if ending := await self._find_obstacle(task):
            return [self._create_result(task, arm, *ending, Attempt(), Cost()) for arm in arms]
        wants_all = any(arm.judges == "any" for arm in arms)
        attempt, cost = await self._attempt(task, name, wants_all=wants_all)
        return [await self._judge(task, arm, attempt, cost) for arm in arms]

    async def _find_obstacle(self, task: EvalTask) -> tuple[Category, str] | None:
        """Return why a task cannot be used here: a tool is missing, or its check passes without any answer."""
        if module := find_missing_module(task.modules):
            return "tool missing", f"the Python module {module}"
        if task.id not in self._untouched:
            self._untouched[task.id] = await task.check.judge({task.target: task.source})
        untouched = self._untouched[task.id]
        if untouched.missing:
            return "tool missing", untouched.missing
        return ("error", "the hidden check passes on the untouched files") if untouched.passed else None

    async def _attempt(self, task: EvalTask, name: str, *, wants_all: bool) -> tuple[Attempt, Cost]:
        options = self.options
        try:
            async with open_task(task, self.config, self.engine, options.token_limit) as opened:
                start = perf_counter()
                try:
                    async with asyncio.timeout(options.limit_s):
                        attempt = await ATTEMPTS[name](opened, wants_all)
                except TimeoutError:
                    attempt = Attempt(None, "cut off", f"the time limit of {options.limit_s:g} s is reached")
                except TokenLimitReached as error:
                    attempt = Attempt(None, "cut off", error.message)
                except ToolMissing as error:
                    attempt = Attempt(None, "tool missing", error.message)
                meter, record = opened.meter, opened.record
                seconds = round(perf_counter() - start, 3)
                if meter.is_exhausted and attempt.ending == "no answer":
                    # the harness reports the limit as any other failure of the engine
                    attempt = replace(attempt, ending="cut off")
                return attempt, Cost(seconds, record.state_seconds(), dict(meter.tokens), meter.calls)
        except ModelError:
            # every other task would fail for the same reason
            raise
        except HarnessError as error:
            return Attempt(None, "error", error.message), Cost()

    async def _judge(self, task: EvalTask, arm: Arm, attempt: Attempt, cost: Cost) -> TaskResult:
        if arm.judges == "any":
            answers = [(candidate.kind, candidate.answer) for candidate in attempt.candidates if candidate.answer]
        else:
            answers = [(attempt.kind, attempt.answer)] if attempt.answer else []
        if attempt.ending in ("tool missing", "error") or not answers:
            return self._create_result(task, arm, attempt.ending or "no answer", attempt.reason, attempt, cost)
        judged: dict[str, Judgement] = {}
        shown, judgement = answers[0], Judgement(False)
        for shown in answers:
            key = "\0".join(f"{path}\0{text}" for path, text in sorted(shown[1].items()))
            judgement = judged[key] = judged.get(key) or await task.check.judge(shown[1])
            if judgement.passed or judgement.missing:
                break
        if judgement.missing:
            return self._create_result(task, arm, "tool missing", judgement.missing, attempt, cost)
        category: Category = "pass" if judgement.passed else "fail"
        return self._create_result(task, arm, category, judgement.reason, attempt, cost, shown)

    def _create_result(
        self,
        task: EvalTask,
        arm: Arm,
        category: Category,
        reason: str,
        attempt: Attempt,
        cost: Cost,
        shown: tuple[str, Files] = ("", {}),
    ) -> TaskResult:
        kind, answer = shown
        # an oracle shows nothing to anybody
        checks = dict(attempt.checks) if arm.judges == "answer" else dict[str, str]()
        result = TaskResult(
            *self._key(task, arm),
            category=category,
            reason=reason,
            seconds=cost.seconds,
            state_seconds=cost.state_seconds,
            state_tokens={state: asdict(count) for state, count in cost.state_tokens.items()},
            calls=cost.calls,
            candidates=len(attempt.candidates),
            kind=kind,
            checks=checks,
            gate=task.gate,
            diff="".join(
                diff(encode(task.files.get(path, "")), encode(text), path) for path, text in sorted(answer.items())
            ),
            reasons=tuple(candidate.reason for candidate in attempt.candidates if candidate.reason)[:MAX_REASONS],
            commit=_read_commit(),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return replace(result, is_false_verified=category == "fail" and result.is_verified)


@cache
def _read_commit() -> str:
    """Return the commit of the program if it runs from a repository, else its version."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return VERSION
    return ended.stdout.strip() or VERSION
