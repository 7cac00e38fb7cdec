"""The digest of a tool's output: its problems, by file, the numbers of tests, and the lines that summarize them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lsp_harness.verify.digest.problem import COLLECTION_CODE, SEVERITY_ORDER, SUMMARY_CODE, ToolProblem

MAX_REPEATED_LINES = 3
"""Most line numbers to list for a problem that occurs on several lines."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The problems in the output of a tool, and the numbers of passed, failed and skipped tests.

    Attributes:
        tool: The name of the tool, or an empty text if the output is not recognized.
        problems: The problems, in the order of the output.
        passed: The number of tests that passed. Linters and compilers have no tests.
        failed: The number of tests that failed.
        skipped: The number of tests that were skipped.
        is_truncated: Whether the end of the output is missing.
        note: Why there is no digest, if the output is not recognized, that no test ran, or why the first one was
            skipped.
        passed_tests: The names of the tests that passed, by which their runner can run them. None if the output
            does not list them.
        skipped_tests: The names of those that were skipped, or that were expected to fail and failed.
        errors: How many of `failed` the runner calls errors and not failed tests: files that cannot be imported, and
            tests whose preparation fails.
        last_lines: The last lines of an output that is not understood, or whose end is missing.
    """

    tool: str = ""
    problems: tuple[ToolProblem, ...] = ()
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    is_truncated: bool = False
    note: str = ""
    passed_tests: frozenset[str] | None = field(default=None, repr=False)
    skipped_tests: frozenset[str] = field(default=frozenset(), repr=False)
    errors: int = 0
    last_lines: tuple[str, ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        """The number of tests that ran."""
        return self.passed + self.failed

    @property
    def is_conclusive(self) -> bool:
        """Return whether the output says how things are: it has problems, or it is understood as a whole."""
        return bool(self.problems) or (bool(self.tool or not self.last_lines) and not self.is_truncated)

    @property
    def failing_tests(self) -> frozenset[str]:
        """The names of the tests that fail, and the paths of test files that cannot be imported."""
        return frozenset(problem.title for problem in self.problems if problem.failed_id)

    @property
    def summary(self) -> str:
        """One line such as `pytest: 2 failed, 7 passed` or `ruff: 3 warnings`, or the note if there is no digest."""
        if not self.tool:
            return self.note
        tests = [f"{count} {word}" for count, word in self._test_counts() if count]
        # what the numbers of the runner contain is not counted again
        counted = (COLLECTION_CODE, SUMMARY_CODE) if self.failed else ()
        others = [problem for problem in self.problems if not problem.test and problem.code not in counted]
        phrase = _count_by_severity(others, self.errors)
        counts = tests + ([phrase] if phrase else [])
        result = ", ".join(counts) or self.note or "no problems"
        return f"{self.tool}: {result}" + "; the output is cut off" * self.is_truncated

    def lines(self, budget: int) -> list[str]:
        """Return a line for each problem, errors first.

        Equal problems on several lines of a file are one line with their number.

        Args:
            budget: The most lines, at least 1. If there are more problems, the last line tells how many are left out.
        """
        groups = _group(self.problems)
        if not groups:
            return [self.summary]
        if len(groups) <= budget:
            return [_format_group(group) for group in groups]
        shown_count = max(0, budget - 1)
        rest = [problem for group in groups[shown_count:] for problem in group]
        last_line = f"… and {len(rest)} more: {_count_by_severity(rest)}"
        return [*(_format_group(group) for group in groups[:shown_count]), last_line]

    def as_json(self) -> dict[str, Any]:
        """Return the digest as a JSON object, with each problem by itself, in the order of `lines`."""
        return {
            "tool": self.tool,
            "summary": self.summary,
            "tests": {word: count for count, word in self._test_counts()},
            "cut": self.is_truncated,
            "understood": bool(self.tool),
            "last_lines": list(self.last_lines),
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
                for group in _group(self.problems)
                for p in group
            ],
        }

    def _test_counts(self) -> list[tuple[int, str]]:
        return [(self.failed - self.errors, "failed"), (self.passed, "passed"), (self.skipped, "skipped")]


def _group(problems: tuple[ToolProblem, ...]) -> list[list[ToolProblem]]:
    """Return groups of equal problems in one file: errors first, and otherwise in the order of the output."""
    groups: dict[tuple[str, ...], list[ToolProblem]] = {}
    for problem in problems:
        key = (problem.severity, problem.path, problem.code, problem.message, problem.test)
        groups.setdefault(key, []).append(problem)
    return sorted(groups.values(), key=lambda group: SEVERITY_ORDER.index(group[0].severity))


def _format_group(group: list[ToolProblem]) -> str:
    problem = group[0]
    if problem.test:
        return _format_test(problem) + _format_repetition(group)
    code = f" [{problem.code}]" if problem.code else ""
    place = f"{problem.place}: " if problem.place else ""
    return f"{place}{problem.severity}: {problem.message}{code}{_format_repetition(group)}"


def _format_test(problem: ToolProblem) -> str:
    place = f" ({problem.place})" if problem.place else ""
    return problem.feedback + place


def _format_repetition(group: list[ToolProblem]) -> str:
    if len(group) == 1:
        return ""
    lines = list(dict.fromkeys(problem.line for problem in group[1:] if problem.line not in (0, group[0].line)))
    ellipsis = ", …" if len(lines) > MAX_REPEATED_LINES else ""
    also = (
        f": also line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:MAX_REPEATED_LINES]))}{ellipsis}"
        if lines
        else ""
    )
    return f" (×{len(group)}{also})"


def _count_by_severity(problems: list[ToolProblem], errors: int = 0) -> str:
    """Return a phrase such as `2 errors, 1 warning`. `errors` are counted without being in the list."""
    counts = Counter[str](problem.severity for problem in problems)
    counts["error"] += errors
    words = {"error": "error", "warning": "warning", "information": "remark", "hint": "hint"}
    return ", ".join(
        f"{counts[severity]} {words[severity]}{'s' * (counts[severity] > 1)}"
        for severity in SEVERITY_ORDER
        if counts[severity]
    )


def select_file_problems(digest: Digest, file: Path, folders: Sequence[Path]) -> Digest:
    """Return the digest with only the problems in a file and the failing tests of any file.

    A test file that cannot be imported counts as a failing test, unless it lacks a module.

    Args:
        digest: The digest of a tool's output.
        file: The file.
        folders: The folders that the paths in the digest may be relative to.

    Returns:
        The digest. The problems in the file have its absolute path.
    """
    file = file.resolve()
    problems = list[ToolProblem]()
    for problem in digest.problems:
        if problem.path and any((folder / problem.path).resolve() == file for folder in folders):
            problems.append(replace(problem, path=str(file)))
        elif problem.failed_id and not problem.lacks_module:
            problems.append(problem)
    return replace(digest, problems=tuple(problems))
