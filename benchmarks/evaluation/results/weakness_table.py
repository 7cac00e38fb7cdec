"""The weakness table: one task for each weakness of small models, with its compensation and without it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.suites.eval_task import EvalTask, Suite
from lsp_harness.errors import UsageError

WEAKNESSES = ("planning", "tool use", "limited context", "hallucinated APIs", "self-correction")


@dataclass(frozen=True, slots=True)
class WeaknessRow:
    """One row of the table.

    Attributes:
        weakness: The weakness.
        without: The parts that are switched off for the second column.
        with_result: The result with the compensation, or None if there is no task.
        without_result: The result without it.
    """

    weakness: str
    without: str
    with_result: TaskResult | None = None
    without_result: TaskResult | None = None

    @property
    def is_shown(self) -> bool:
        """Return whether the task passes with the compensation only."""
        results = (self.with_result, self.without_result)
        return [result.category == "pass" for result in results if result] == [True, False]


def choose_weakness_tasks(suite: Suite) -> dict[str, EvalTask]:
    """Return weakness → its task.

    Raises:
        UsageError: The suite has no task with a weakness, or one without ablations.
    """
    tasks = {task.weakness: task for task in suite.tasks if task.weakness}
    for weakness, task in tasks.items():
        if weakness not in WEAKNESSES:
            raise UsageError(f"the task {task.id}: {weakness!r} is none of {', '.join(WEAKNESSES)}")
        if not task.without:
            raise UsageError(f"the task {task.id} says with `without` which parts take its compensation away")
    if not tasks:
        raise UsageError(f"the suite {suite.name} has no task with a `weakness`, so there is nothing to compare")
    return tasks


def build_rows(tasks: dict[str, EvalTask], results: Sequence[TaskResult]) -> list[WeaknessRow]:
    """Return the rows of all weaknesses, in a fixed order."""
    rows: list[WeaknessRow] = []
    for weakness in WEAKNESSES:
        task = tasks.get(weakness)
        if task is None:
            rows.append(WeaknessRow(weakness, ""))
            continue
        without = " ".join(task.without)
        found = {result.ablation: result for result in results if result.task == task.id}
        rows.append(WeaknessRow(weakness, without, found.get(""), found.get(without)))
    return rows


async def run_weaknesses(
    suite: Suite, run: Callable[[Suite, tuple[str, ...]], Awaitable[list[TaskResult]]]
) -> list[WeaknessRow]:
    """Run each task of the table twice, and return the rows.

    Args:
        suite: The suite.
        run: Runs a suite without some parts of the harness.
    """
    tasks, results = choose_weakness_tasks(suite), list[TaskResult]()
    for task in tasks.values():
        single = Suite(suite.name, (task,))
        results += await run(single, ())
        results += await run(single, task.without)
    return build_rows(tasks, results)
