"""The comparison of two runs of tests: which failures count, and how a result is described."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.digest.problem import ToolProblem
from lsp_harness.verify.finding import Finding, RelatedPlace
from lsp_harness.verify.project_tests.confined_tests import SuiteRun
from lsp_harness.verify.project_tests.lost_tests import find_emptied_tests, find_lost_tests
from lsp_harness.verify.project_tests.suite_search import ProposalSuite

MAX_FINDINGS = 12
SLOW_TEST = "the test does not end within"
"""Words of `pytest_worker` about a test that it ended."""
ADDRESS = re.compile(r"0x[0-9a-fA-F]+|\d{5,}")
"""The address of an object or a time in a message, which are others in each run."""
MAX_MESSAGE_CHARS = 160
CONFTEST_ERROR = re.compile(r"while loading conftest '?([^']+?)'?\.?$", re.MULTILINE)
RAISED = re.compile(r"^E +(\w[\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b.*)$", re.MULTILINE)
ERROR_LINE = re.compile(
    r"^.*(?:\berror\b|\bERR!|\bfailed\b|No module named|not found|cannot|panicked).*$", re.IGNORECASE | re.MULTILINE
)
USAGE_ERROR = re.compile(r"usage: .*?: error: ([^\n]+)", re.DOTALL)
"""The message of a program that does not know an option. Its usage comes first."""
NETWORK = re.compile(
    r"Network is unreachable|Name or service not known|name resolution|ENETUNREACH|EAI_AGAIN|ENOTFOUND"
)
LIMITS = {
    "timeout": "the tests do not end in time",
    "output_limit": "the tests print without an end",
    "process_limit": "the tests start too many processes",
}
"""How a run ended → what that means for its tests."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs before and after a proposal.

    Attributes:
        before: The run before it.
        after: The run after it.
        failing: The failures before it (see `find_failing`).
        flaky: Ids of tests that pass and fail on one text. They do not count.
    """

    before: SuiteRun
    after: SuiteRun
    failing: Mapping[str, str]
    flaky: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Demand:
    """The tests that a proposal has to repair, of those that failed before it, and those that it may remove.

    Attributes:
        files: The changed files, as paths in the workspace folder.
        must_pass: Ids of tests that it has to repair.
        wants_repairs: Whether it has to repair the tests that are about what it changes.
        task: The instruction in words.
        emptied: Tests that the proposal itself empties.
    """

    files: frozenset[str]
    must_pass: frozenset[str] = frozenset()
    wants_repairs: bool = False
    task: str = ""
    emptied: tuple[ToolProblem, ...] = field(default=())

    @classmethod
    def of(
        cls, changes: ChangeSet, root: Path, must_pass: frozenset[str], task: str, *, wants_repairs: bool
    ) -> "Demand":
        """Return the demand that a proposal must meet. The arguments are the attributes."""
        files = frozenset(change.file.relative_to(root).as_posix() for change in changes)
        emptied = tuple(problem for change in changes for problem in find_emptied_tests(change, task))
        return cls(files, must_pass, wants_repairs, task, emptied)

    def find_broken(self, runs: Runs) -> list[ToolProblem]:
        """Return the failures that count: new ones, and those that have to be repaired. Else tests that do not pass.

        Of a test file that could not be imported before, nobody knows which tests passed.

        Args:
            runs: The runs. That after the proposal is complete.
        """
        renamed = _find_renamed(runs)

        def counts(problem: ToolProblem) -> bool:
            failed = problem.failed_id
            if failed in runs.flaky and failed not in self.must_pass:
                return False
            file = failed.partition("::")[0]
            known = runs.failing.get(failed, runs.failing.get(file, renamed.get(failed)))
            if not failed or known is None or not self.must_pass.isdisjoint((failed, file)):
                return bool(failed)
            is_changed = _without_addresses(known) != _without_addresses(problem.message)
            return self.wants_repairs and (is_changed or problem.path in self.files)

        broken = [problem for problem in runs.after.digest.problems if counts(problem)]
        tests = [problem for problem in broken if problem.test]
        if tests:
            # a run that ended at its first failures says nothing about the other tests
            return tests
        lost = find_lost_tests(runs.before.digest, runs.after.digest, self.must_pass, self.task)
        return [problem for problem in lost if problem.test not in runs.flaky] or broken


def _find_renamed(runs: Runs) -> Mapping[str, str]:
    """Return failing tests whose parameters have other names than before: id → the message of the failure before.

    As many tests with other parameters failed before, so these may be the same ones.
    """
    known = (runs.before.digest.passed_tests or frozenset()) | runs.failing.keys() | runs.before.digest.skipped_tests
    old: dict[str, list[str]] = {}
    after = {problem.failed_id for problem in runs.after.digest.problems if problem.failed_id}
    for test, message in runs.failing.items():
        if "[" in test and test not in after:
            old.setdefault(test.partition("[")[0], []).append(message)
    found: dict[str, str] = {}
    for test in sorted(after - known):
        messages = old.get(test.partition("[")[0]) if "[" in test else None
        if messages:
            found[test] = messages.pop()
    return found


def find_failing(run: SuiteRun) -> Mapping[str, str]:
    """Return the id of each test that fails, or the path of a test file that cannot be imported → its message.

    The names of tests alone may be those of tests in other files, too.
    """
    problems = run.digest.problems if run.is_complete else ()
    return {failed: problem.message for problem in problems if (failed := problem.failed_id)}


def count_failures(run: SuiteRun) -> int:
    """Return how often pytest counts a failure. A test may fail twice: itself, and at its end."""
    return sum(bool(problem.test) for problem in run.digest.problems) if run.is_complete else 0


def find_slow(run: SuiteRun) -> frozenset[str]:
    """Return the tests that the warm process ended. Without this limit they may pass."""
    return frozenset(p.test for p in run.digest.problems if p.test and SLOW_TEST in p.message)


def fails_by_time(before: SuiteRun, broken: Sequence[ToolProblem]) -> bool:
    """Return whether a proposal fails only because tests are slow, and may be right.

    A proposal that does not end mostly fails as the text before it does. So fewer tests must fail than before, or none
    of them may have been slow before.
    """
    slow = {problem.failed_id for problem in broken if SLOW_TEST in problem.message}
    if len(slow) < len(broken):
        return False
    return len(slow) < len(find_failing(before)) or slow.isdisjoint(find_slow(before))


def choose_shown(broken: Sequence[ToolProblem], failing: Collection[str]) -> Sequence[ToolProblem]:
    """Return the failed tests to show. If there are too many, those that the proposal itself breaks come first."""
    if len(broken) <= MAX_FINDINGS:
        return broken
    return sorted(broken, key=lambda problem: problem.failed_id in failing)[:MAX_FINDINGS]


def find_first_error(run: SuiteRun, note: str = "") -> str:
    """Return why a run has no result, in the words of the program: its first error.

    Args:
        run: The run of the tests.
        note: The interpreter, which is named if it lacks something.
    """
    if run.result.end != "exited":
        return LIMITS[run.result.end]
    text = run.result.output.decode("utf-8", "replace")
    conftest, raised = CONFTEST_ERROR.search(text), RAISED.search(text)
    if run.digest.skipped and not run.digest.total:
        message = ": ".join(filter(None, ("all tests are skipped", run.digest.note)))
    elif usage := USAGE_ERROR.search(text):
        message = usage[1].strip()
    elif raised:
        message = raised[1].strip()
        message = f"{Path(conftest[1]).name} cannot be imported: {message}" if conftest else message
    elif problem := next((problem for problem in run.digest.problems if problem.severity == "error"), None):
        message = problem.message
    elif line := ERROR_LINE.search(text):
        message = line[0].strip()
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        message = lines[0] if lines else f"the exit status is {run.result.exit_code}"
    return _shorten(message) + explain_failure(message, note)


def explain_failure(message: str, note: str) -> str:
    """Return a remark about a failure that the interpreter or the sandbox may cause, not the text."""
    if note and ("No module named" in message or "cannot import name" in message):
        return f" (the tests run with {note})"
    return " (the sandbox has no network)" if NETWORK.search(message) else ""


def describe_failures(run: SuiteRun, note: str) -> str:
    """Return the first failure of a run in words."""
    failing = find_failing(run)
    test, message = next(iter(failing.items()))
    name = test.partition("::")[2] or test
    return f"{name}: {_shorten(message)}{explain_failure(message, note)}"


def describe_result(suite: ProposalSuite, runs: Runs, evidence: str) -> str:
    """Return how many tests ran, what they ran, and what they leave open, in words.

    Args:
        suite: The tests.
        runs: The runs before and after the proposal.
        evidence: What they ran of the change, such as "5 of 6 changed lines".
    """
    run = runs.after
    files, left_out = len(suite.tests), suite.found - len(suite.tests)
    counts = f"{format_count(run.digest.passed, 'test')} in {format_count(files, 'file')}"
    if suite.runner.runs_all or run.digest.passed_tests is None:
        counts = format_count(run.digest.passed, "test")
    parts = [", ".join(filter(None, (counts, evidence)))]
    failing = {test: message for test, message in find_failing(run).items() if test not in runs.flaky}
    if failing:
        parts.append(f"{len(failing)} failed before and still fail{'s' * (len(failing) == 1)}")
    if runs.flaky:
        names = ", ".join(sorted(test.partition("::")[2] or test for test in runs.flaky))
        parts.append(f"not counted, because it passes and fails on one text: {names}")
    if left_out:
        parts.append(f"{left_out} more depend on the change and did not run")
    return "; ".join(parts)


def as_finding(problem: ToolProblem, changes: ChangeSet) -> Finding:
    """Return a failed test as a finding at the first change. Its place is in another file."""
    main = changes.main
    name = f"{problem.title} — " if problem.title else ""
    related = ()
    if problem.path and problem.line and main.root:
        related = (RelatedPlace(str(main.root / problem.path), problem.line, problem.title or problem.message),)
    return Finding(main.start, main.start, f"{name}{problem.message}", "tests", problem.title, related=related)


def _without_addresses(message: str) -> str:
    return ADDRESS.sub("", message)


def _shorten(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 1]}…"
