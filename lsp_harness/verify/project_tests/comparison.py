"""Compares the tests of a project before and after a proposal."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.index.query.affected_tests import AffectedTest
from lsp_harness.process.sandbox.confinement import Confinement
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.digest.digest import read_last_line
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.finding import Finding, Outcome, RelatedPlace
from lsp_harness.verify.project_tests.baselines import Baselines
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.lost_tests import find_lost_tests
from lsp_harness.verify.project_tests.project_copy import TooLargeError
from lsp_harness.verify.project_tests.runner_registry import SuiteRunner, find_runner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker, TracedTest
from lsp_harness.verify.project_tests.warm_suites import WarmSuites

CHECK = "tests"
MAX_TEST_FILES = 24
"""Most test files of one run, the closest ones to the change."""
MAX_FINDINGS = 12
SLOW_TEST = "the test does not end within"
"""Words of `pytest_worker` about a test that it ended."""
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
"""The address of an object in a message, which is another one in each run."""
EXTRA_WALL_S = 10.0
WALL_FACTOR = 4
"""A proposal gets so many times the time of the run before it, and `EXTRA_WALL_S` seconds more."""
MAX_SLOW_RUNS = 2
"""Most proposals for one text that run again without a limit for each test, because only their slow tests fail."""
SLOW_WALL_S = 15.0
"""Seconds of such a run. They are few, because many of these proposals do not end at all."""


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """The functions by which tests are found and allowed.

    Attributes:
        find_affected: Returns the test files that a change of a file can break. It gets the folder and the path.
        find_objection: Returns why a command may not run, or an empty text. It gets the command and its confinement.
        choose_sandbox: Returns the sandbox of this machine.
    """

    find_affected: Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]
    find_objection: Callable[[Sequence[str], Confinement | None], Awaitable[str]]
    choose_sandbox: Callable[[], SandboxChoice]


@dataclass(frozen=True, slots=True)
class _Suite:
    runner: SuiteRunner
    root: Path
    tests: tuple[AffectedTest, ...]
    found: int
    """The number of affected test files, also of those that do not run."""

    @property
    def extent(self) -> str:
        """The part of the affected test files that run, if it is not all."""
        return f"{len(self.tests)} of {self.found} files" if self.found > len(self.tests) else ""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(test.path for test in self.tests)


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs before and after a proposal.

    Attributes:
        before: The run before it.
        after: The run after it.
        failing: The failures before it (see `_find_failing`).
    """

    before: SuiteRun
    after: SuiteRun
    failing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FailureTrace:
    """The run of the tests on a text, and the lines of the text that each test ran.

    Attributes:
        run: The run.
        tests: Name of each test → its lines. Empty if the lines cannot be recorded, or were not asked for.
    """

    run: SuiteRun
    tests: Mapping[str, TracedTest]

    @property
    def failures(self) -> tuple[Problem, ...]:
        """The tests that failed, and the test files that could not be imported."""
        return tuple(problem for problem in self.run.digest.problems if problem.failed_id)

    @property
    def failed_ids(self) -> frozenset[str]:
        """The ids of the failures, by `Problem.failed_id`."""
        return frozenset(problem.failed_id for problem in self.failures)

    def limit_to(self, titles: Collection[str]) -> "FailureTrace":
        """Return the trace with the failures of some tests only, by their titles."""
        problems = tuple(problem for problem in self.run.digest.problems if problem.title in titles)
        return replace(self, run=replace(self.run, digest=replace(self.run.digest, problems=problems)))

    def reaches(self, lines: range) -> bool:
        """Return whether a failing test runs some lines, counted from 1. Without recorded lines it may, so it does."""
        failed = [test for test in self.tests.values() if not test.is_passed]
        return not failed or any(line in lines for test in failed for line in test.lines)


class SuiteSkippedError(Exception):
    """The tests cannot say anything about a proposal. The message says why."""


class SuiteComparison:
    """Runs the affected tests on the texts before and after proposals. The runs before are kept.

    Args:
        access: How tests are found and allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ProjectAccess, limits: ResourceLimits | None = None) -> None:
        self._access = access
        self._limits = limits or ResourceLimits()
        self._warm = WarmSuites()
        self._baselines = Baselines[SuiteRun]()
        self._slow_runs: Counter[Hashable] = Counter()

    async def compare(
        self, changes: ChangeSet, must_pass: frozenset[str] = frozenset(), *, wants_repairs: bool = False
    ) -> Outcome:
        """Return whether a proposal breaks a test.

        Args:
            changes: The proposal.
            must_pass: The failing tests that the proposal has to repair, by `Problem.failed_id`.
            wants_repairs: Whether a proposal has to repair the failing tests that are about what it changes: those
                that fail in another way now, or that fail in a changed file.
        """
        try:
            suite = await self._find_suite(changes)
            files = frozenset(change.file.relative_to(suite.root).as_posix() for change in changes)
            demand = _Demand(files, must_pass, wants_repairs)
            runs = await self._run_both(suite, changes, demand)
        except SuiteSkippedError as error:
            return Outcome(CHECK, "skipped", reason=str(error))
        except (OSError, TooLargeError) as error:
            return Outcome(CHECK, "skipped", reason=f"the tests could not run: {error}")
        after = runs.after
        if not after.is_complete:
            return _judge_incomplete(runs.before, after, changes)
        if broken := demand.find_broken(runs):
            findings = tuple(_as_finding(problem, changes) for problem in _choose_shown(broken, runs.failing))
            reason = f"{len(broken)} of {after.digest.total} tests fail"
            return Outcome(CHECK, "failed", findings, reason=reason, count=len(broken), extent=suite.extent)
        if not after.digest.passed:
            reason = "all tests fail, with the present text too"
            return Outcome(CHECK, "skipped", reason=reason, is_unresolved=bool(after.digest.total))
        is_about = bool(replace(demand, wants_repairs=True).find_broken(runs))
        # a caller that names the tests to repair does not mean the others
        if is_about or (not must_pass and await self._is_run_by_failing_tests(suite, changes, after)):
            # nothing broke, but the proposal is about failing tests that still fail, so this is no success
            return Outcome(CHECK, "skipped", reason=_describe(suite, after), extent=suite.extent, is_unresolved=True)
        still_failing = len(_find_failing(after))
        return Outcome(
            CHECK, "passed", reason=_describe(suite, after), extent=suite.extent, still_failing=still_failing
        )

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
            suite = await self._find_suite(changes)
            before = await self._run_before(suite, changes)
            texts = {change.file: change.before.data}
            tests: Mapping[str, TracedTest] = {}
            if records_lines:
                tests = await self._record_lines(suite, texts, change.file)
        except (OSError, TooLargeError) as error:
            raise SuiteSkippedError(f"the tests could not run: {error}") from error
        return FailureTrace(before, tests)

    def record_file_change(self, file: Path | None = None) -> None:
        """Forget all runs, because a file changed on disk. Without a file, it may be any."""
        self._baselines.clear()
        self._slow_runs.clear()
        self._warm.record_file_change(file)

    async def aclose(self) -> None:
        """End the warm process."""
        await self._warm.aclose()

    async def _is_run_by_failing_tests(self, suite: _Suite, changes: ChangeSet, after: SuiteRun) -> bool:
        """Return whether a test that fails before and after a proposal runs a line that the proposal adds or changes.

        Such a test often fails in the same way because the new code does not do what it should: a function without a
        body and one that always returns None give the same messages. Without recorded lines the answer is False.
        """
        failing = _find_failing(after)
        if not failing:
            return False
        texts = {change.file: change.after.data for change in changes}
        for change in changes:
            try:
                tests = await self._record_lines(suite, texts, change.file)
            except (OSError, SuiteSkippedError):
                return False
            # a test that only fails because it is recorded, which makes it slow, does not count
            names = [name for name in tests if any(failed.endswith(f"::{name}") for failed in failing)]
            new_lines = change.new_lines
            if any(not new_lines.isdisjoint(tests[name].lines) for name in names):
                return True
        return False

    async def _record_lines(self, suite: _Suite, texts: Mapping[Path, bytes], file: Path) -> Mapping[str, TracedTest]:
        """Return the lines of a file that each test runs, or nothing without a warm process.

        Raises:
            OSError: The process has ended.
            SuiteSkippedError: No tests may run.
        """
        selection = SuiteChoice(suite.files, 0, self._limits)
        worker = await self._find_worker(suite, selection)
        return (await worker.trace(texts, selection, file))[1] if worker else {}

    def _limit(self, before: SuiteRun) -> ResourceLimits:
        """Return the limits of a proposal: a text that does not end must not block the others."""
        if not before.is_complete:
            return self._limits
        wall_s = before.ms / 1000 * WALL_FACTOR + EXTRA_WALL_S
        return replace(self._limits, wall_s=min(self._limits.wall_s, wall_s))

    async def _find_suite(self, changes: ChangeSet) -> _Suite:
        root = changes.main.root
        if root is None:
            raise SuiteSkippedError("this file is in no workspace folder")
        if not all(change.file.is_relative_to(root) for change in changes):
            raise SuiteSkippedError("the files lie in several workspace folders")
        paths = [change.file.relative_to(root).as_posix() for change in changes]
        runner = await asyncio.to_thread(find_runner, root, paths[0])
        if runner is None:
            raise SuiteSkippedError(f"no program is known that runs the tests for {changes.main.file.name}")
        found: dict[str, AffectedTest] = {}
        for path in paths:
            for test in await self._access.find_affected(root, path):
                if runner.can_run(test.path):
                    found.setdefault(test.path, test)
        if not found:
            raise SuiteSkippedError(f"no test depends on {', '.join(paths)}")
        tests = sorted(found.values(), key=lambda test: (test.hops, test.path))[:MAX_TEST_FILES]
        return _Suite(runner, root, tuple(tests), len(found))

    async def _run_both(self, suite: _Suite, changes: ChangeSet, demand: "_Demand") -> _Runs:
        """Return the runs before and after a proposal.

        A warm process runs the tests first, because most proposals fail. What passes there runs again in a new copy. So
        do a few proposals that fail only because a test is slow.
        """
        before = await self._run_before(suite, changes)
        failing = _find_failing(before)
        # a proposal that makes more tests fail than before is not worth a whole run
        choice = SuiteChoice(suite.files, _count_failures(before) + 1, self._limit(before))
        texts = {change.file: change.after.data for change in changes}
        if warm := await self._run_warm(suite, texts, choice):
            runs = _Runs(before, warm, failing)
            if not warm.is_complete:
                return runs
            if broken := demand.find_broken(runs):
                if not (_fails_by_time(before, broken) and self._take_slow_run(suite, changes)):
                    return runs
                limits = replace(choice.limits, wall_s=min(choice.limits.wall_s, SLOW_WALL_S))
                after = await self._run(suite, texts, replace(choice, limits=limits))
                if not after.is_complete:
                    # the first run says more, because it names the slow test
                    return runs
            else:
                # it ends, as the warm process showed, but a new one may take long on a busy machine
                after = await self._run(suite, texts, replace(choice, limits=self._limits))
        else:
            after = await self._run(suite, texts, choice)
        runs = _Runs(before, after, failing)
        slow = _find_slow(before) - demand.must_pass
        return await self._run_slow(suite, changes, slow, runs) if slow else runs

    async def _run_before(self, suite: _Suite, changes: ChangeSet) -> SuiteRun:
        async def ask() -> SuiteRun:
            texts = {change.file: change.before.data for change in changes}
            selection = SuiteChoice(suite.files, 0, self._limits)
            # only the warm process can end a single test that does not end
            return await self._run_warm(suite, texts, selection) or await self._run(suite, texts, selection)

        return await self._baselines.find(_name_baseline(suite, changes), ask)

    def _take_slow_run(self, suite: _Suite, changes: ChangeSet) -> bool:
        """Count a proposal that fails only by time, and return whether it may run without a limit for each test."""
        key = _name_baseline(suite, changes)
        self._slow_runs[key] += 1
        return self._slow_runs[key] <= MAX_SLOW_RUNS

    async def _run_slow(self, suite: _Suite, changes: ChangeSet, slow: frozenset[str], runs: _Runs) -> _Runs:
        """Return runs in which that before the proposal had no limit for each test either, if this matters.

        It matters if the proposal fails a test that only took too long before, or does not end itself.

        Args:
            suite: The tests.
            changes: The proposal.
            slow: The tests that took too long before.
            runs: The run before the proposal, with the limit, and the run after it, without the limit.
        """
        if runs.after.is_complete and slow.isdisjoint(_find_failing(runs.after)):
            return runs
        texts = {change.file: change.before.data for change in changes}
        run = await self._run(suite, texts, SuiteChoice(suite.files, 0, self._limits))
        return replace(runs, before=run, failing=_find_failing(run) if run.is_complete else runs.failing)

    async def _run(self, suite: _Suite, texts: Mapping[Path, bytes], selection: SuiteChoice) -> SuiteRun:
        sandbox = await self._require_sandbox(suite)
        return await run_tests(suite.runner, suite.root, texts, selection, sandbox)

    async def _run_warm(self, suite: _Suite, texts: Mapping[Path, bytes], selection: SuiteChoice) -> SuiteRun | None:
        worker = await self._find_worker(suite, selection)
        try:
            return await worker.run(texts, selection) if worker else None
        except OSError:
            # the proposal may have ended the worker; a process of its own says what is wrong
            return None

    async def _find_worker(self, suite: _Suite, selection: SuiteChoice) -> SuiteWorker | None:
        sandbox = await self._require_sandbox(suite)
        return await self._warm.get(suite.runner, suite.root, sandbox, selection.limits)

    async def _require_sandbox(self, suite: _Suite) -> Sandbox:
        choice = self._access.choose_sandbox()
        if not choice.is_confined:
            raise SuiteSkippedError(f"tests run only in a sandbox, and none works here ({choice.problem_text})")
        command = (suite.runner.name, *suite.files)
        if objection := await self._access.find_objection(command, choice.confine(suite.root)):
            raise SuiteSkippedError(objection)
        return choice.sandbox


def _find_failing(run: SuiteRun) -> Mapping[str, str]:
    """Return the id of each test that fails, or the path of a test file that cannot be imported → its message.

    The names of tests alone may be those of tests in other files, too.
    """
    problems = run.digest.problems if run.is_complete else ()
    return {failed: problem.message for problem in problems if (failed := problem.failed_id)}


def _count_failures(run: SuiteRun) -> int:
    """Return how often pytest counts a failure. A test may fail twice: itself, and at its end."""
    return sum(bool(problem.test) for problem in run.digest.problems) if run.is_complete else 0


def _name_baseline(suite: _Suite, changes: ChangeSet) -> Hashable:
    """Return everything that the run before a proposal depends on, without the other files on disk."""
    return suite.root, suite.files, " ".join(change.before.hash for change in changes)


def _fails_by_time(before: SuiteRun, broken: Sequence[Problem]) -> bool:
    """Return whether a proposal fails only because tests are slow, and may be right.

    A proposal that does not end mostly fails as the text before it does. So fewer tests must fail than before, or none
    of them may have been slow before.
    """
    slow = {problem.failed_id for problem in broken if SLOW_TEST in problem.message}
    if len(slow) < len(broken):
        return False
    return len(slow) < len(_find_failing(before)) or slow.isdisjoint(_find_slow(before))


def _find_slow(run: SuiteRun) -> frozenset[str]:
    """Return the tests that the warm process ended. Without this limit they may pass."""
    return frozenset(p.test for p in run.digest.problems if p.test and SLOW_TEST in p.message)


@dataclass(frozen=True, slots=True)
class _Demand:
    """The tests that a proposal has to repair, of those that failed before it.

    Attributes:
        files: The changed files, as paths in the project.
        must_pass: Ids of tests that it has to repair.
        wants_repairs: Whether it has to repair the tests that are about what it changes.
    """

    files: frozenset[str]
    must_pass: frozenset[str]
    wants_repairs: bool

    def find_broken(self, runs: _Runs) -> list[Problem]:
        """Return the failures that count: new ones, and those that have to be repaired. Else tests that do not pass.

        Of a test file that could not be imported before, nobody knows which tests passed.

        Args:
            runs: The runs. That after the proposal is complete.
        """

        def counts(problem: Problem) -> bool:
            failed = problem.failed_id
            file = failed.partition("::")[0]
            known = runs.failing.get(failed, runs.failing.get(file))
            if not failed or known is None or not self.must_pass.isdisjoint((failed, file)):
                return bool(failed)
            is_changed = _without_addresses(known) != _without_addresses(problem.message)
            return self.wants_repairs and (is_changed or problem.path in self.files)

        broken = [problem for problem in runs.after.digest.problems if counts(problem)]
        tests = [problem for problem in broken if problem.test]
        # a run that ended at its first failures says nothing about the other tests
        return tests or find_lost_tests(runs.before.digest, runs.after.digest, self.must_pass) or broken


def _without_addresses(message: str) -> str:
    return ADDRESS.sub("", message)


def _choose_shown(broken: Sequence[Problem], failing: Collection[str]) -> Sequence[Problem]:
    """Return the failed tests to show. If there are too many, those that the proposal itself breaks come first."""
    if len(broken) <= MAX_FINDINGS:
        return broken
    return sorted(broken, key=lambda problem: problem.failed_id in failing)[:MAX_FINDINGS]


def _judge_incomplete(before: SuiteRun, after: SuiteRun, changes: ChangeSet) -> Outcome:
    """Return the outcome of a run that says nothing about single tests: the proposal is to blame if it ran before."""
    last = read_last_line(after.result.output.decode("utf-8", "replace"))
    ends = {
        "timeout": "the tests do not end in time",
        "output_limit": "the tests print without an end",
        "process_limit": "the tests start too many processes",
        "exited": f"no test ran: {last}",
    }
    reason = ends[after.result.end]
    if not before.is_complete:
        return Outcome(CHECK, "skipped", reason=f"{reason}, with the present text too")
    return Outcome(CHECK, "failed", (_as_finding(Problem(reason), changes),))


def _as_finding(problem: Problem, changes: ChangeSet) -> Finding:
    """Return a failed test as a finding at the first change. Its place is in another file."""
    main = changes.main
    name = f"{problem.title} — " if problem.title else ""
    related = ()
    if problem.path and problem.line and main.root:
        related = (RelatedPlace(str(main.root / problem.path), problem.line, problem.title or problem.message),)
    return Finding(main.start, main.start, f"{name}{problem.message}", "tests", problem.title, related=related)


def _describe(suite: _Suite, run: SuiteRun) -> str:
    files, left_out = len(suite.files), suite.found - len(suite.files)
    counts = f"{format_count(run.digest.passed, 'test')} in {format_count(files, 'file')}"
    failing = len(_find_failing(run))
    still = f"; {failing} failed before and still fail{'s' * (failing == 1)}" if failing else ""
    return counts + still + (f"; {left_out} more depend on the change and did not run" if left_out else "")
