"""Compares the tests of a project before and after a proposal."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.errors import IndexIncomplete
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.digest.problem import ToolProblem
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.project_tests.confined_tests import SuiteRun
from lsp_harness.verify.project_tests.failing_tests import FailingTests
from lsp_harness.verify.project_tests.project_overlay import TooLargeError
from lsp_harness.verify.project_tests.recorded_lines import list_changed_lines
from lsp_harness.verify.project_tests.run_judgement import (
    LIMITS,
    Demand,
    Runs,
    as_finding,
    choose_shown,
    describe_failures,
    describe_result,
    find_failing,
    find_first_error,
)
from lsp_harness.verify.project_tests.suite_runs import ProjectAccess, SuiteRuns, texts_after, texts_before
from lsp_harness.verify.project_tests.suite_search import (
    ProposalSuite,
    SuiteSkippedError,
    find_suites,
    list_whole_suite,
)
from lsp_harness.verify.project_tests.suite_worker import TracedTest

CHECK = "tests"


@dataclass(frozen=True, slots=True)
class FailureTrace:
    """The run of the tests on a text, and the lines of the text that each test ran.

    Attributes:
        run: The test run with the failure.
        tests: Name of each test → its lines. Empty if the lines cannot be recorded, or were not asked for.
    """

    run: SuiteRun
    tests: Mapping[str, TracedTest]

    @property
    def failures(self) -> tuple[ToolProblem, ...]:
        """The tests that failed, and the test files that could not be imported."""
        return tuple(problem for problem in self.run.digest.problems if problem.failed_id)

    @property
    def failed_ids(self) -> frozenset[str]:
        """The ids of the failures, by `ToolProblem.failed_id`."""
        return frozenset(problem.failed_id for problem in self.failures)

    def limit_to(self, titles: Collection[str]) -> "FailureTrace":
        """Return the trace with the failures of some tests only, by their titles."""
        problems = tuple(problem for problem in self.run.digest.problems if problem.title in titles)
        return replace(self, run=replace(self.run, digest=replace(self.run.digest, problems=problems)))

    def reaches(self, lines: range) -> bool:
        """Return whether a failing test runs some lines, counted from 1. Without recorded lines it may, so it does."""
        failed = [test for test in self.tests.values() if not test.is_passed]
        return not failed or any(line in lines for test in failed for line in test.lines)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The part of a proposal that tests ran.

    Attributes:
        words: The part that they ran, such as "5 of 6 changed lines".
        problem: Why their result says nothing about the proposal, or an empty text.
        can_widen: Whether other tests of the project may run it.
    """

    words: str = ""
    problem: str = ""
    can_widen: bool = False


MAX_SHOWN_PROBLEMS = 20
"""Most failing tests that the answer to a question shows."""


class SuiteComparison:
    """Runs the affected tests on the texts before and after proposals. The runs before are kept.

    Args:
        access: How tests are found and allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ProjectAccess, limits: ResourceLimits | None = None) -> None:
        self._access = access
        self._runs = SuiteRuns(access, limits or ResourceLimits())

    async def compare(
        self,
        changes: ChangeSet,
        must_pass: frozenset[str] = frozenset(),
        *,
        wants_repairs: bool = False,
        task: str = "",
    ) -> Outcome:
        """Return whether a proposal breaks a test.

        Args:
            changes: The proposal.
            must_pass: The failing tests that the proposal has to repair, by `ToolProblem.failed_id`.
            wants_repairs: Whether a proposal has to repair the failing tests that are about what it changes: those
                that fail in another way now, or that fail in a changed file.
            task: The instruction that led to the proposal, in words. It may ask that a test is removed.
        """
        try:
            suites = await self._find_suites(changes)
            main = suites[0]
            demand = Demand.of(changes, main.root, must_pass, task, wants_repairs=wants_repairs)
            judged: list[tuple[Outcome, bool]] = []
            for suite in suites:
                own = replace(demand, must_pass=_choose_demanded(must_pass, suite, suites))
                judged.append(await self._judge_or_skip(suite, changes, own))
                if judged[-1][0].status == "failed":
                    return _name_suite(judged[-1][0], suite, suites)
            combined = _combine(suites, [outcome for outcome, _ in judged])
            _, can_widen = judged[0]
            if combined.status == "skipped" and can_widen and not main.is_whole:
                wider = await asyncio.to_thread(list_whole_suite, main)
                if wider:
                    return (await self._judge_or_skip(wider, changes, demand))[0]
            return combined
        except SuiteSkippedError as error:
            return Outcome(CHECK, "skipped", reason=str(error))

    async def trace(self, change: Change, *, records_lines: bool = True) -> "FailureTrace":
        """Run the affected tests on the text before a change, and return which of its lines they run.

        Args:
            change: The change.
            records_lines: Whether the tests run once more to record the lines.

        Raises:
            SuiteSkippedError: No tests can run. The message says why.
        """
        changes = ChangeSet.of(change)
        try:
            suite, before = await self._find_failing_suite(changes)
            tests: Mapping[str, TracedTest] = {}
            if records_lines:
                tests = await self._runs.record_lines(suite, texts_before(changes), change.file)
        except (OSError, TooLargeError) as error:
            raise SuiteSkippedError(f"the tests could not run: {error}") from error
        if not before.is_complete:
            raise SuiteSkippedError(f"no test ran: {find_first_error(before, suite.runner.program_note)}")
        return FailureTrace(before, tests)

    async def run_present(self, files: ChangeSet, *, is_whole: bool) -> list[str]:
        """Run tests on the present texts, and return their results in lines for people.

        Args:
            files: The files whose tests are wanted, without edits.
            is_whole: Whether all tests of the projects of these files run.

        Raises:
            SuiteSkippedError: No tests can run. The message says why.
            IndexIncomplete: Nobody knows yet which tests depend on the files.
        """
        lines = list[str]()
        for suite in await self._find_suites(files):
            wider = await asyncio.to_thread(list_whole_suite, suite) if is_whole else None
            try:
                run = await self._runs.run_before(wider or suite, files)
            except (OSError, TooLargeError) as error:
                raise SuiteSkippedError(f"the tests could not run: {error}") from error
            if not run.is_complete:
                lines.append(f"The tests did not run to their end: {find_first_error(run, suite.runner.program_note)}")
                continue
            lines.append(f"{run.digest.summary} ({format_count(len((wider or suite).tests), 'test file')})")
            lines += [f"  {line}" for line in run.digest.lines(MAX_SHOWN_PROBLEMS)] if run.digest.problems else []
        return lines

    async def choose_failing_tests(self, change: Change, must_pass: Collection[str]) -> FailingTests | None:
        """Return the failing tests of the text before a change, to run them alone, or None if that cannot be done.

        Args:
            change: The change.
            must_pass: The ids of the tests, by `ToolProblem.failed_id`.
        """
        changes = ChangeSet.of(change)
        try:
            suite, _ = await self._find_failing_suite(changes)
            return await FailingTests.choose(self._runs, suite, changes, must_pass)
        except (OSError, TooLargeError, SuiteSkippedError, IndexIncomplete):
            return None

    def record_file_change(self, file: Path | None = None) -> None:
        """Forget all runs, because a file changed on disk. Without a file, it may be any."""
        self._runs.record_file_change(file)

    async def aclose(self) -> None:
        """End the warm process of the tests."""
        await self._runs.aclose()

    async def _find_suites(self, changes: ChangeSet) -> tuple[ProposalSuite, ...]:
        return await find_suites(changes, self._access.find_affected, self._access.read_python())

    async def _find_failing_suite(self, changes: ChangeSet) -> tuple[ProposalSuite, SuiteRun]:
        """Return the first suite with a failing test and its run on the text before a proposal, or the closest one."""
        suites = await self._find_suites(changes)
        first = suites[0], await self._runs.run_before(suites[0], changes)
        if not find_failing(first[1]):
            for suite in suites[1:]:
                before = await self._runs.run_before(suite, changes)
                if find_failing(before):
                    return suite, before
        return first

    async def _judge_or_skip(self, suite: ProposalSuite, changes: ChangeSet, demand: Demand) -> tuple[Outcome, bool]:
        """Return what `_judge` returns, or why the tests of one suite cannot run."""
        try:
            return await self._judge(suite, changes, demand)
        except SuiteSkippedError as error:
            return Outcome(CHECK, "skipped", reason=str(error)), False
        except (OSError, TooLargeError) as error:
            return Outcome(CHECK, "skipped", reason=f"the tests could not run: {error}"), False

    async def _judge(self, suite: ProposalSuite, changes: ChangeSet, demand: Demand) -> tuple[Outcome, bool]:
        """Return the outcome of one suite, and whether other tests of the project may say more."""
        runs = await self._runs.run_both(suite, changes, demand)
        after, note = runs.after, suite.runner.program_note
        if not after.is_complete:
            return _judge_incomplete(suite, runs, changes), False
        if broken := [*demand.find_broken(runs), *demand.emptied]:
            findings = tuple(as_finding(problem, changes) for problem in choose_shown(broken, runs.failing))
            # a test with subtests may fail several times
            count = len({problem.failed_id or problem.message for problem in broken})
            reason = f"{count} of {after.digest.total} tests fail"
            outcome = Outcome(CHECK, "failed", findings, reason=reason, count=count, extent=suite.extent)
            return outcome, False
        if not after.digest.passed:
            reason = f"all tests fail with the present text, too; the first is {describe_failures(after, note)}"
            return Outcome(CHECK, "skipped", reason=reason, is_unresolved=bool(after.digest.total)), True
        if after.result.exit_code and not after.digest.failed and not runs.before.result.exit_code:
            # the tests pass, but not the run: its coverage may be too low, which says nothing about a part of the tests
            reason = f"the tests pass, but {suite.runner.name} reports an error: {find_first_error(after, note)}"
            return Outcome(CHECK, "skipped", reason=reason, extent=suite.extent), False
        evidence = await self._find_evidence(suite, changes, runs)
        is_about = bool(replace(demand, wants_repairs=True).find_broken(runs))
        reason = describe_result(suite, runs, evidence.words)
        # a caller that names the tests to repair does not mean the others
        if is_about or (not demand.must_pass and await self._is_run_by_failing_tests(suite, changes, after)):
            # nothing broke, but the proposal is about failing tests that still fail, so this is no success
            return Outcome(CHECK, "skipped", reason=reason, extent=suite.extent, is_unresolved=True), False
        if evidence.problem:
            reason = f"{evidence.problem} ({reason})"
            return Outcome(CHECK, "skipped", reason=reason, extent=suite.extent), evidence.can_widen
        still_failing = len(find_failing(after).keys() - runs.flaky)
        return Outcome(CHECK, "passed", reason=reason, extent=suite.extent, still_failing=still_failing), False

    async def _find_evidence(self, suite: ProposalSuite, changes: ChangeSet, runs: Runs) -> _Evidence:
        """Return what shows that the tests ran the change, or why it does not."""
        after = runs.after
        repaired = runs.failing.keys() & (after.digest.passed_tests or frozenset())
        files = frozenset(test.path for test in suite.tests)
        names = ", ".join(change.file.name for change in changes)
        if not suite.runner.records_lines:
            if repaired or await self._runs.notices_errors(suite, changes):
                return _Evidence()
            return _Evidence(problem=f"the tests do not notice an error in {names}", can_widen=True)
        total = ran = 0
        runs_itself = False
        for change in changes:
            if change.file.suffix != ".py":
                continue
            path = change.file.relative_to(suite.root).as_posix()
            lines = await asyncio.to_thread(list_changed_lines, change)
            total += len(lines)
            ran += len(after.lines.get(change.file, frozenset()) & lines)
            # an example in a docstring is a test, but no line that can be recorded
            runs_itself = runs_itself or (path in files and not lines and suite.runner.has_own_tests(change.after.data))
        words = f"{ran} of {total} changed lines" if ran else ""
        if ran or repaired or runs_itself:
            return _Evidence(words)
        if not total:
            return _Evidence(
                problem=f"no line of the change in {names} can run: it changes comments or blank space only"
            )
        return _Evidence(problem=f"no test runs the changed lines of {names}", can_widen=True)

    async def _is_run_by_failing_tests(self, suite: ProposalSuite, changes: ChangeSet, after: SuiteRun) -> bool:
        """Return whether a test that fails before and after a proposal runs a line that the proposal adds or changes.

        Such a test often fails in the same way because the new code does not do what it should: a function without a
        body and one that always returns None give the same messages. Without recorded lines the answer is False.
        """
        failing = find_failing(after)
        if not failing:
            return False
        texts = texts_after(changes)
        for change in changes:
            try:
                tests = await self._runs.record_lines(suite, texts, change.file)
            except (OSError, SuiteSkippedError):
                return False
            # a test that only fails because it is recorded, which makes it slow, does not count
            names = [name for name in tests if any(failed.endswith(f"::{name}") for failed in failing)]
            new_lines = change.new_lines
            if any(not new_lines.isdisjoint(tests[name].lines) for name in names):
                return True
        return False


def _choose_demanded(
    must_pass: frozenset[str], suite: ProposalSuite, suites: Sequence[ProposalSuite]
) -> frozenset[str]:
    """Return the tests of one suite among those that a proposal has to repair. The first suite has all unknown ones."""
    owners = {test.path: other for other in reversed(suites) for test in other.tests}
    return frozenset(test for test in must_pass if owners.get(test.partition("::")[0], suites[0]) is suite)


def _combine(suites: Sequence[ProposalSuite], outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of several suites, none of which failed: tests of one of them must have run the change."""
    if len(outcomes) == 1:
        return outcomes[0]
    named = [_name_suite(outcome, suite, suites) for suite, outcome in zip(suites, outcomes, strict=True)]
    if unresolved := next((outcome for outcome in named if outcome.is_unresolved), None):
        return unresolved
    passed = [outcome for outcome in named if outcome.status == "passed"]
    if not passed:
        return named[0]
    extents = [outcome.extent for outcome in passed if outcome.extent]
    if len(passed) < len(named):
        extents.append(f"{len(passed)} of {len(named)} suites")
    reason = "; ".join(outcome.reason for outcome in [*passed, *(one for one in named if one not in passed)])
    still_failing = sum(outcome.still_failing for outcome in passed)
    return replace(passed[0], reason=reason, extent=", ".join(extents), still_failing=still_failing)


def _name_suite(outcome: Outcome, suite: ProposalSuite, suites: Sequence[ProposalSuite]) -> Outcome:
    """Return an outcome whose reason names its suite, if there are several."""
    return replace(outcome, reason=f"{suite.title}: {outcome.reason}") if len(suites) > 1 else outcome


def _judge_incomplete(suite: ProposalSuite, runs: Runs, changes: ChangeSet) -> Outcome:
    """Return the outcome of a run that says nothing about single tests: the proposal is to blame if it ran before."""
    before, after, note = runs.before, runs.after, suite.runner.program_note
    reason = find_first_error(after, note)
    reason = reason if after.result.end in LIMITS else f"no test ran: {reason}"
    if not before.is_complete:
        return Outcome(CHECK, "skipped", reason=f"{reason}, with the present text, too")
    if not (after.result.exit_code or after.result.end in LIMITS):
        return Outcome(CHECK, "skipped", reason=f"{suite.runner.name} ran no test, and did not say why")
    return Outcome(CHECK, "failed", (as_finding(ToolProblem(reason), changes),), reason=reason)
