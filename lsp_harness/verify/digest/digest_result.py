"""The digest of one output: its problems, how many tests went which way, and the few lines that say it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lsp_harness.verify.digest.problem import SEVERITY_ORDER, Problem

NAMED = 3
"""Other lines of a problem that are named where it occurs several times."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What `tool` said. `tool` is empty where nobody understands the output, and `note` says so.

    The counts are of tests; a linter has none. `cut` says that the output ends in the middle of something.
    """

    tool: str = ""
    problems: tuple[Problem, ...] = ()
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cut: bool = False
    note: str = ""

    @property
    def failing_tests(self) -> frozenset[str]:
        """The names of the tests that fail."""
        return frozenset(one.title for one in self.problems if one.test)

    @property
    def summary(self) -> str:
        """`pytest: 2 failed, 7 passed` or `ruff: 3 warnings`; the note where there is nothing else to say."""
        if not self.tool:
            return self.note
        tests = [f"{count} {word}" for count, word in self._tests() if count]
        others = [p for p in self.problems if not p.test]
        said = tests + ([_counted(others)] if others else [])
        return f"{self.tool}: {', '.join(said) or 'no problems'}" + "; the output is cut off" * self.cut

    def lines(self, budget: int) -> list[str]:
        """At most `budget` lines (1 at least): a problem each, errors first, the last telling how many more there are.

        What is said of several lines of a file is one line with their number.
        """
        folded = _folded(self.problems)
        if not folded:
            return [self.summary]
        if len(folded) <= budget:
            return [_line(group) for group in folded]
        shown = max(0, budget - 1)
        left = [problem for group in folded[shown:] for problem in group]
        return [*(_line(group) for group in folded[:shown]), f"… and {len(left)} more: {_counted(left)}"]

    def as_json(self) -> dict[str, Any]:
        """The same for programs; problems in the order of `lines`, not folded."""
        return {
            "tool": self.tool,
            "summary": self.summary,
            "tests": {word: count for count, word in self._tests()},
            "cut": self.cut,
            "problems": [
                {
                    "path": p.path,
                    "line": p.line,
                    "column": p.column,
                    "severity": p.severity,
                    "code": p.code,
                    "message": p.message,
                    "test": p.test,
                }
                for group in _folded(self.problems)
                for p in group
            ],
        }

    def _tests(self) -> list[tuple[int, str]]:
        return [(self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]


def _folded(problems: tuple[Problem, ...]) -> list[list[Problem]]:
    """Groups of problems that say the same of one file, those of errors first, else in the order of the output."""
    groups: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        key = (problem.severity, problem.path, problem.code, problem.message, problem.test)
        groups.setdefault(key, []).append(problem)
    return sorted(groups.values(), key=lambda group: SEVERITY_ORDER.index(group[0].severity))


def _line(group: list[Problem]) -> str:
    problem = group[0]
    if problem.test:
        return _of_test(problem) + _times(group)
    code = f" [{problem.code}]" if problem.code else ""
    place = f"{problem.place}: " if problem.place else ""
    return f"{place}{problem.severity}: {problem.message}{code}{_times(group)}"


def _of_test(problem: Problem) -> str:
    # the form that a prompt for another try has, see feedback.py
    place = f" ({problem.place})" if problem.place else ""
    return f"TEST FAIL: {problem.title} — {problem.message}{place}"


def _times(group: list[Problem]) -> str:
    if len(group) == 1:
        return ""
    lines = list(dict.fromkeys(problem.line for problem in group[1:] if problem.line not in (0, group[0].line)))
    more = ", …" if len(lines) > NAMED else ""
    also = f": also line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:NAMED]))}{more}" if lines else ""
    return f" (×{len(group)}{also})"


def _counted(problems: list[Problem]) -> str:
    """`2 errors, 1 warning`"""
    counts = Counter(problem.severity for problem in problems)
    words = {"error": "error", "warning": "warning", "information": "remark", "hint": "hint"}
    return ", ".join(
        f"{counts[severity]} {words[severity]}{'s' * (counts[severity] > 1)}"
        for severity in SEVERITY_ORDER
        if counts[severity]
    )
