"""Runs tests on the texts before and after proposals, in a warm process or in one of their own."""

from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import monotonic

from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.process.sandbox.sandbox import Confinement, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.digest.problem import ToolProblem
from lsp_harness.verify.project_tests import confined_tests
from lsp_harness.verify.project_tests.baselines import Baselines
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun
from lsp_harness.verify.project_tests.recorded_lines import Lines, list_changed_lines
from lsp_harness.verify.project_tests.run_judgement import (
    Demand,
    Runs,
    count_failures,
    fails_by_time,
    find_failing,
    find_slow,
)
from lsp_harness.verify.project_tests.suite_runner import Selection
from lsp_harness.verify.project_tests.suite_search import ProposalSuite, SuiteSkippedError
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker, TracedTest, VariantResult, Variants
from lsp_harness.verify.project_tests.warm_suites import WarmSuites

EXTRA_WALL_S = 10.0
WALL_FACTOR = 4
"""A proposal gets so many times the time of the run before it, and `EXTRA_WALL_S` seconds more."""
MAX_SLOW_RUNS = 2
"""Most proposals for one text that run again without a limit for each test, because only their slow tests fail."""
SLOW_WALL_S = 15.0
"""Seconds of such a run. They are few, because many of these proposals do not end at all."""
CONFIRMING_RUNS = 4
"""Runs of each text before a test that passed is blamed on a proposal. A test that fails by chance in half of its runs
is then blamed once in 256 proposals."""
CONFIRMING_S = 20.0
"""Seconds after which no other confirming run begins, except the first one of each text."""
SYNTAX_ERROR = b"\n)]}(((\n\"'"
"""Text that cannot be read in any language whose tests run."""


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """The functions by which tests are found and allowed.

    Attributes:
        find_affected: Returns the test files that a change of a file can break. It gets the folder and the path.
        find_objection: Returns why a command may not run, or an empty text. It gets the command, its confinement, and
            what a person who is asked must know: the folder and the interpreter.
        choose_sandbox: Returns the sandbox of this machine.
        read_python: Returns the value of the setting `knowledge.python`.
    """

    find_affected: Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]
    find_objection: Callable[[Sequence[str], Confinement | None, Mapping[str, str]], Awaitable[str]]
    choose_sandbox: Callable[[], SandboxChoice]
    read_python: Callable[[], str] = lambda: ""


class SuiteRuns:
    """Runs the tests of proposals. The runs before proposals are kept until a file changes.

    Args:
        access: How tests are allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ProjectAccess, limits: ResourceLimits) -> None:
        self._access, self._limits = access, limits
        self._warm = WarmSuites()
        self._baselines = Baselines[SuiteRun]()
        self._notices = Baselines[bool]()
        self._slow_runs: Counter[Hashable] = Counter()
        self._flaky: dict[Hashable, set[str]] = {}
        self._steady: dict[Hashable, set[str]] = {}
        self._cold: set[tuple[Path, str, PurePosixPath]] = set()

    def record_file_change(self, file: Path | None) -> None:
        """Forget all runs, because a file changed on disk. Without a file, it may be any."""
        self._baselines.clear()
        self._notices.clear()
        for known in (self._slow_runs, self._flaky, self._steady, self._cold):
            known.clear()
        self._warm.record_file_change(file)

    async def aclose(self) -> None:
        """End the warm process of the tests."""
        await self._warm.aclose()

    async def run_before(self, suite: ProposalSuite, changes: ChangeSet) -> SuiteRun:
        """Return the run of the tests on the texts before a proposal."""
        return await self._baselines.find((name_baseline(suite, changes), 0), lambda: self._ask_before(suite, changes))

    async def run_both(self, suite: ProposalSuite, changes: ChangeSet, demand: Demand) -> Runs:
        """Return the runs before and after a proposal.

        A warm process runs the tests first, because most proposals fail. Where its runs share a copy of the project,
        what passes there runs again in a new copy. So do a few proposals that fail only because a test is slow. A test
        is blamed on the proposal only if it fails again and again with it, and passes without it.
        """
        before = await self.run_before(suite, changes)
        flaky = frozenset(self._flaky.get(suite.key, ()))
        texts, lines = texts_after(changes), _list_lines(suite, changes)
        # a proposal that makes more tests fail than before is not worth a whole run
        choice = SuiteChoice(suite.files, count_failures(before) + 1, self._limit(before), lines)
        runs = await self._run_after(suite, changes, demand, choice, Runs(before, before, find_failing(before), flaky))
        if not runs.after.is_complete:
            return runs
        broken = demand.find_broken(runs)
        if _ends_early(runs, broken):
            runs = await self._run_to_end(suite, texts, choice, runs)
            broken = demand.find_broken(runs)
        ids = {problem.failed_id for problem in broken}
        files = {problem.failed_id for problem in broken if not problem.test}
        # a test that has to be repaired, or that had no time before, is not blamed for what it did before
        suspects = ids - demand.must_pass - runs.failing.keys() - find_slow(before) - {"", "tests"}
        if not suspects or suspects < ids or suspects <= self._steady.get(suite.key, set()):
            return runs
        runs = await self._confirm(suite, changes, runs, suspects, files, replace(choice, max_failures=0))
        if runs.flaky and _ends_early(runs, demand.find_broken(runs)):
            runs = await self._run_to_end(suite, texts, choice, runs)
        return runs

    async def _run_to_end(
        self, suite: ProposalSuite, texts: Mapping[Path, bytes], choice: SuiteChoice, runs: Runs
    ) -> Runs:
        """Return runs of which the one after the proposal has all tests, however many fail."""
        after = await self._run_once(suite, texts, replace(choice, max_failures=0))
        return replace(runs, after=after) if after.is_complete else runs

    async def _run_after(
        self, suite: ProposalSuite, changes: ChangeSet, demand: Demand, choice: SuiteChoice, known: Runs
    ) -> Runs:
        before, texts = known.before, texts_after(changes)
        warm = await self._run_warm(suite, texts, choice)
        if warm is None:
            after = await self._run(suite, texts, choice)
        elif not warm.is_complete:
            return replace(known, after=warm)
        elif broken := demand.find_broken(replace(known, after=warm)):
            if not (fails_by_time(before, broken) and self._take_slow_run(suite, changes)):
                return replace(known, after=warm)
            limits = replace(choice.limits, wall_s=min(choice.limits.wall_s, SLOW_WALL_S))
            after = await self._run(suite, texts, replace(choice, limits=limits))
            if not after.is_complete:
                # the first run says more, because it names the slow test
                return replace(known, after=warm)
        elif warm.is_on_copy or find_slow(before):
            # tests that the warm process ended say nothing; a new process may take long on a busy machine
            after = await self._run(suite, texts, replace(choice, limits=self._limits))
        else:
            after = warm
        runs = replace(known, after=after)
        slow = find_slow(before) - demand.must_pass
        return await self._run_slow(suite, changes, slow, runs) if slow and after is not warm else runs

    async def _confirm(
        self,
        suite: ProposalSuite,
        changes: ChangeSet,
        runs: Runs,
        suspects: set[str],
        files: set[str],
        choice: SuiteChoice,
    ) -> Runs:
        """Return runs that name the tests which give both answers on one text.

        Args:
            suite: The tests.
            changes: The proposal.
            runs: The first runs.
            suspects: The tests that would be blamed on the proposal.
            files: Those of them that are files which cannot be imported.
            choice: The tests that run again.
        """
        key = name_baseline(suite, changes)
        # the files of the suspects are enough, unless they pass alone: tests may depend on those before them
        alone = suite.list_files(test.partition("::")[0] for test in suspects)
        choices = [replace(choice, files=alone), choice] if 0 < len(alone) < len(choice.files) else [choice]
        flaky, confirmed = set[str](), 0
        for tried in choices:
            flaky, confirmed = await self._run_again(key, suite, changes, (suspects, files), tried)
            if not flaky:
                break
        if confirmed == CONFIRMING_RUNS - 1:
            self._steady.setdefault(suite.key, set()).update(suspects - flaky)
        self._flaky.setdefault(suite.key, set()).update(flaky)
        return replace(runs, flaky=runs.flaky | flaky)

    async def _run_again(
        self,
        key: Hashable,
        suite: ProposalSuite,
        changes: ChangeSet,
        suspected: tuple[set[str], set[str]],
        choice: SuiteChoice,
    ) -> tuple[set[str], int]:
        """Run tests again and again on both texts.

        Args:
            key: The texts before the proposal (see `name_baseline`).
            suite: The tests.
            changes: The proposal.
            suspected: The suspects, and those of them that are files.
            choice: The tests that run.

        Returns:
            The suspects that do not fail with the proposal each time and pass without it each time, and the number of
            runs of each text.
        """
        suspects, files = suspected
        flaky: set[str] = set()
        start, confirmed = monotonic(), 0
        for number in range(1, CONFIRMING_RUNS):
            after = await self._run_once(suite, texts_after(changes), choice)
            before = await self._baselines.find(
                (key, choice.files, number),
                lambda: self._run_unlimited(suite, texts_before(changes), replace(choice, lines={}), suspects),
            )
            flaky |= {test for test in suspects if _changes_its_mind(after, before, test, is_file=test in files)}
            confirmed += 1
            if flaky >= suspects or monotonic() - start > CONFIRMING_S:
                break
        return flaky, confirmed

    async def _ask_before(self, suite: ProposalSuite, changes: ChangeSet) -> SuiteRun:
        return await self._run_once(suite, texts_before(changes), SuiteChoice(suite.files, 0, self._limits))

    async def _run_once(self, suite: ProposalSuite, texts: Mapping[Path, bytes], choice: SuiteChoice) -> SuiteRun:
        """Run tests in the warm process if there is one, because only it can end a single test that does not end."""
        return await self._run_warm(suite, texts, choice) or await self._run(suite, texts, choice)

    async def _run_unlimited(
        self, suite: ProposalSuite, texts: Mapping[Path, bytes], choice: SuiteChoice, wanted: set[str]
    ) -> SuiteRun:
        """Run tests again without a limit for each test if some that should pass have reached it."""
        run = await self._run_once(suite, texts, choice)
        return await self._run(suite, texts, choice) if find_slow(run) & wanted else run

    async def notices_errors(self, suite: ProposalSuite, changes: ChangeSet) -> bool:
        """Return whether the tests notice an error in a changed file: if not, they do not run it."""
        for change in changes:
            texts = {**texts_after(changes), change.file: change.after.data + SYNTAX_ERROR}

            async def ask(texts: Mapping[Path, bytes] = texts) -> bool:
                run = await self._run(suite, texts, SuiteChoice(suite.files, 1, self._limits))
                return run.result.end == "exited" and (run.result.exit_code != 0 or run.digest.failed > 0)

            if await self._notices.find((suite.key, suite.files, change.file), ask):
                return True
        return False

    async def run_chosen(
        self,
        suite: ProposalSuite,
        texts: Mapping[Path, bytes],
        files: Sequence[str],
        *,
        max_failures: int = 0,
        test_s: float | None = None,
    ) -> SuiteRun:
        """Run some of the tests of a suite.

        Args:
            suite: The program and the project.
            texts: File → its content.
            files: The test files, or the ids of tests, as the program names them.
            max_failures: The number of failed tests after which the run may end. 0 means that all tests run.
            test_s: Seconds of the processor for each test, which limit the whole run, too.

        Raises:
            TooLargeError: A copy of the project is needed, and it is too large.
            OSError: A program cannot be started, or a file cannot be written.
            SuiteSkippedError: No tests may run.
        """
        limits = self._limits
        if test_s is not None:
            limits = replace(limits, wall_s=min(limits.wall_s, WALL_FACTOR * test_s + EXTRA_WALL_S))
        return await self._run_once(suite, texts, SuiteChoice(files, max_failures, limits, test_s=test_s))

    async def run_variants(
        self, suite: ProposalSuite, texts: Mapping[Path, bytes], files: Sequence[str], test_s: float, variants: Variants
    ) -> Sequence[VariantResult]:
        """Run some tests on variants of a file in a warm process. Without one, all variants are left open.

        Args:
            suite: The program and the project.
            texts: File → its content, which the variants are of.
            files: The ids of the tests, as the program names them.
            test_s: Seconds of the processor for each test.
            variants: The variants.

        Raises:
            SuiteSkippedError: No tests may run.
        """
        limits = replace(self._limits, wall_s=min(self._limits.wall_s, variants.seconds + 2 * EXTRA_WALL_S))
        choice = SuiteChoice(files, 0, limits, test_s=test_s)
        unknown: list[VariantResult] = ["open"] * len(variants.edits)
        try:
            worker = await self._find_worker(suite, choice)
            return await worker.run_variants(texts, choice, variants) if worker else unknown
        except OSError:
            return unknown

    async def record_lines(
        self, suite: ProposalSuite, texts: Mapping[Path, bytes], file: Path
    ) -> Mapping[str, TracedTest]:
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

    def _take_slow_run(self, suite: ProposalSuite, changes: ChangeSet) -> bool:
        """Count a proposal that fails only by time, and return whether it may run without a limit for each test."""
        key = name_baseline(suite, changes)
        self._slow_runs[key] += 1
        return self._slow_runs[key] <= MAX_SLOW_RUNS

    async def _run_slow(self, suite: ProposalSuite, changes: ChangeSet, slow: frozenset[str], runs: Runs) -> Runs:
        """Return the runs before and after a proposal again, without a limit for each test, if the limit decides the
        result.

        It matters if the proposal fails a test that only took too long before, or does not end itself.

        Args:
            suite: The tests.
            changes: The proposal.
            slow: The tests that took too long before.
            runs: The run before the proposal, with the limit, and the run after it, without the limit.
        """
        if runs.after.is_complete and slow.isdisjoint(find_failing(runs.after)):
            return runs
        run = await self._run(suite, texts_before(changes), SuiteChoice(suite.files, 0, self._limits))
        return replace(runs, before=run, failing=find_failing(run) if run.is_complete else runs.failing)

    async def _run(self, suite: ProposalSuite, texts: Mapping[Path, bytes], selection: SuiteChoice) -> SuiteRun:
        sandbox = await self._require_sandbox(suite)
        return await confined_tests.run_tests(suite.runner, suite.root, texts, selection, sandbox)

    async def _run_warm(
        self, suite: ProposalSuite, texts: Mapping[Path, bytes], selection: SuiteChoice
    ) -> SuiteRun | None:
        """Return the run in the warm process, or None if a process of its own can say more."""
        if suite.key in self._cold:
            return None
        worker = await self._find_worker(suite, selection)
        try:
            run = await worker.run(texts, selection) if worker else None
        except OSError:
            # the proposal may have ended the worker; a process of its own says what is wrong
            return None
        if run and run.result.end == "exited" and not run.is_complete:
            return None
        return run

    async def _find_worker(self, suite: ProposalSuite, selection: SuiteChoice) -> SuiteWorker | None:
        sandbox = await self._require_sandbox(suite)
        return await self._warm.get(suite.runner, suite.root, sandbox, selection.limits)

    async def _require_sandbox(self, suite: ProposalSuite) -> Sandbox:
        choice = self._access.choose_sandbox()
        if not choice.is_confined:
            raise SuiteSkippedError(f"tests run only in a sandbox, and none works here ({choice.problem_text})")
        command = (suite.runner.name, *suite.files)
        program = str(suite.runner.python or suite.runner.command(Selection(suite.files, Path("report")))[0])
        facts = {"folder": str(suite.root / suite.runner.folder)}
        if note := suite.runner.program_note:
            facts["interpreter"] = note
        if objection := await self._access.find_objection(command, choice.confine(suite.root, program), facts):
            raise SuiteSkippedError(objection)
        return choice.sandbox


def _ends_early(runs: Runs, broken: Sequence[ToolProblem]) -> bool:
    """Return whether the run after a proposal ended at failures that do not count, so that other tests are missing.

    A test with subtests fails several times, for example.
    """
    is_at_limit = count_failures(runs.after) > count_failures(runs.before)
    return is_at_limit and find_failing(runs.after).keys().isdisjoint(problem.failed_id for problem in broken)


def _changes_its_mind(after: SuiteRun, before: SuiteRun, test: str, *, is_file: bool) -> bool:
    """Return whether a suspect passes with a proposal in a run, or does not pass without it.

    A test that the proposal adds has no run without it.
    """
    if _did_pass(after, test, is_file=is_file):
        return True
    if not is_file and test in find_failing(after) and _is_absent(before, test):
        return False
    return not _did_pass(before, test, is_file=is_file)


def _is_absent(run: SuiteRun, test: str) -> bool:
    """Return whether a complete run has no test of this id."""
    digest = run.digest
    known = (digest.passed_tests or frozenset()) | digest.skipped_tests | find_failing(run).keys()
    return run.is_complete and digest.passed_tests is not None and test not in known


def _did_pass(run: SuiteRun, test: str, *, is_file: bool) -> bool:
    """Return whether a test passes in a run, or whether a test file can be imported."""
    if not run.is_complete or test in find_failing(run):
        return False
    return is_file or run.digest.passed_tests is None or test in run.digest.passed_tests


def name_baseline(suite: ProposalSuite, changes: ChangeSet) -> Hashable:
    """Return everything that the run before a proposal depends on, without the other files on disk."""
    return suite.key, suite.files, " ".join(change.before.hash for change in changes)


def texts_before(changes: ChangeSet) -> dict[Path, bytes]:
    """Return the texts before a proposal."""
    return {change.file: change.before.data for change in changes}


def texts_after(changes: ChangeSet) -> dict[Path, bytes]:
    """Return the texts of a proposal."""
    return {change.file: change.after.data for change in changes}


def _list_lines(suite: ProposalSuite, changes: ChangeSet) -> Lines:
    if not suite.runner.records_lines:
        return {}
    python = (change for change in changes if change.file.suffix == ".py")
    return {change.file: lines for change in python if (lines := list_changed_lines(change))}
