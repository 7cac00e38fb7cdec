"""The figures of an evaluation: each arm by itself, and each pair of arms on the same tasks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import median

from benchmarks.evaluation.attempt import CATEGORIES, Category
from benchmarks.evaluation.results.task_result import TaskResult

UNCHECKED = "no check"


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """The figures of one arm.

    Attributes:
        arm: The arm, with the parts that are switched off.
        counts: Category → the number of tasks.
        median_s: The median of the seconds of a task.
        mean_tokens: The mean of the generated tokens of a task.
        mean_calls: The mean of the requests to the model.
        verified: The number of answers that were shown as verified.
        form_only: The number of answers that were shown with "form ✓, behaviour not checked".
        form_only_wrong: The number of these that fail the hidden check.
        unverified: The number of other answers: what they were to repair was still wrong, or nothing was checked.
        false_verified: The number of these that fail the hidden check.
        false_by_checks: The checks that had passed → the false ones and all that were verified by just these.
        kinds: How right answers were made → their number.
    """

    arm: str
    counts: dict[Category, int]
    median_s: float
    mean_tokens: float
    mean_calls: float
    verified: int
    form_only: int
    form_only_wrong: int
    unverified: int
    false_verified: int
    false_by_checks: dict[str, tuple[int, int]]
    kinds: dict[str, int]

    @property
    def total(self) -> int:
        """The number of tasks."""
        return sum(self.counts.values())

    @property
    def judged(self) -> int:
        """The number of tasks that say something about the arm."""
        return self.total - self.counts["tool missing"] - self.counts["error"]

    @property
    def pass_share(self) -> float | None:
        """The share of right answers among the judged tasks, or None without one."""
        return self.counts["pass"] / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The comparison of two arms on the tasks that both have (McNemar's test).

    Attributes:
        first: The first arm.
        second: The second arm.
        both: The number of tasks that both solve.
        only_first: The number that only the first solves.
        only_second: The number that only the second solves.
        neither: The number that no arm solves.
        p: The probability of a difference of this size or larger if the arms are equally good (exact, two-sided).
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def name_arm(result: TaskResult) -> str:
    """Return the name of the arm of a result, with the parts that are switched off."""
    return f"{result.arm} ({result.ablation})" if result.ablation else result.arm


def group_results(results: Sequence[TaskResult]) -> dict[str, list[TaskResult]]:
    """Return arm → its results, in the order of the results."""
    groups: dict[str, list[TaskResult]] = {}
    for result in results:
        groups.setdefault(name_arm(result), []).append(result)
    return groups


def compute_figures(arm: str, results: Sequence[TaskResult]) -> ArmFigures:
    """Return the figures of the results of one arm."""
    counts = Counter(result.category for result in results)
    judged = [result for result in results if result.is_judged]
    verified = [result for result in results if result.is_verified]
    form_only = [result for result in results if result.is_form_only]
    shown = sum(result.category in ("pass", "fail") for result in results)
    by_checks: dict[str, tuple[int, int]] = {}
    for result in verified:
        passed = ", ".join(name for name, status in result.checks.items() if status == "passed") or UNCHECKED
        wrong, total = by_checks.get(passed, (0, 0))
        by_checks[passed] = wrong + (result.category == "fail"), total + 1
    return ArmFigures(
        arm,
        {category: counts.get(category, 0) for category in CATEGORIES},
        median([result.seconds for result in judged] or [0.0]),
        sum(result.generated for result in judged) / max(1, len(judged)),
        sum(result.calls for result in judged) / max(1, len(judged)),
        len(verified),
        len(form_only),
        sum(result.category == "fail" for result in form_only),
        shown - len(verified) - len(form_only),
        # the file may be older than the words that are said today
        sum(result.category == "fail" for result in verified),
        by_checks,
        dict(Counter(result.kind for result in results if result.category == "pass").most_common()),
    )


def compare_pairs(groups: dict[str, list[TaskResult]]) -> list[PairedDifference]:
    """Return the comparison of each pair of arms."""
    differences: list[PairedDifference] = []
    for first, second in combinations(groups, 2):
        solved_first = {(r.suite, r.task): r.category == "pass" for r in groups[first] if r.is_judged}
        solved_second = {(r.suite, r.task): r.category == "pass" for r in groups[second] if r.is_judged}
        cells = Counter((solved_first[key], solved_second[key]) for key in solved_first.keys() & solved_second.keys())
        only_first, only_second = cells[True, False], cells[False, True]
        differences.append(
            PairedDifference(
                *(first, second, cells[True, True], only_first, only_second, cells[False, False]),
                compute_mcnemar_p_value(only_first, only_second),
            )
        )
    return differences


def compute_mcnemar_p_value(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value for the numbers of tasks that only one of two arms solves."""
    count, fewer = only_first + only_second, min(only_first, only_second)
    if not count:
        return 1.0
    return min(1.0, 2 * sum(comb(count, k) for k in range(fewer + 1)) / 2**count)
