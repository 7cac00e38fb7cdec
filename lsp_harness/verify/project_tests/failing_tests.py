"""A run of only the failing tests of a text, which says quickly whether a candidate may repair them.

Most candidates of a search change nothing for the better. Only one that makes the failing tests pass is worth a run of
all tests.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.project_tests.project_overlay import TooLargeError
from lsp_harness.verify.project_tests.run_judgement import find_failing
from lsp_harness.verify.project_tests.suite_runs import SuiteRuns, texts_after, texts_before
from lsp_harness.verify.project_tests.suite_search import ProposalSuite, SuiteSkippedError
from lsp_harness.verify.project_tests.suite_worker import VariantResult, Variants

MIN_TEST_S, MAX_TEST_S = 0.4, 1.0
"""Seconds of the processor that a test gets at least and at most. Most tests take milliseconds."""
MAX_TESTS = 12
"""Most single tests. A candidate that makes these pass seldom fails the others."""
SUITE_FACTOR, VARIANT_FACTOR = 2, 3
"""A run of all tests on a change gets so many times the time before it, and a run of the failing ones so many times
that of one test."""
TIME_FACTOR = 3
"""A test gets so many times the time of the run of all failing tests before the candidate."""


@dataclass(frozen=True, slots=True)
class FailingTests:
    """The failing tests of a text, which run alone. Create it by `choose`.

    Attributes:
        runs: Runs the tests.
        suite: The program and the project.
        files: The failing tests as the program names them, or their files if it runs no single tests.
        others: Ids of tests in these files that fail, too, and need not be repaired.
        test_s: Seconds of the processor for each test.
        suite_s: Seconds for a run of all tests on one change.
    """

    runs: SuiteRuns
    suite: ProposalSuite
    files: tuple[str, ...]
    others: frozenset[str]
    test_s: float
    suite_s: float

    @classmethod
    async def choose(
        cls, runs: SuiteRuns, suite: ProposalSuite, changes: ChangeSet, must_pass: Collection[str]
    ) -> "FailingTests | None":
        """Return the fewest tests of a suite that fail on the texts before a proposal as they did in the whole suite.

        Tests that fail only beside others are not found by a run of their own: then it is None.

        Args:
            runs: Runs the tests.
            suite: The program and the project.
            changes: The proposal.
            must_pass: The ids of the failing tests, by `ToolProblem.failed_id`.

        Raises:
            SuiteSkippedError: No tests may run.
        """
        if not must_pass:
            return None
        wanted = sorted(must_pass)
        files = suite.list_files(test.partition("::")[0] for test in wanted)
        # only a program that runs in a warm process is known to understand the ids of tests
        single = tuple(map(suite.runner.relative, wanted[:MAX_TESTS])) if suite.runner.python else files
        for chosen, expected in ((single, set(wanted[:MAX_TESTS])), (files, set(wanted))):
            try:
                run = await runs.run_chosen(suite, texts_before(changes), chosen)
            except (OSError, TooLargeError):
                return None
            failing = find_failing(run)
            if chosen and failing.keys() >= expected:
                test_s = min(MAX_TEST_S, max(MIN_TEST_S, TIME_FACTOR * run.ms / 1000))
                before = await runs.run_before(suite, changes)
                suite_s = SUITE_FACTOR * before.ms / 1000 + MAX_TEST_S
                # another failing test of the suite would end the run of all tests
                others = (find_failing(before).keys() | failing.keys()) - set(wanted)
                return cls(runs, suite, chosen, frozenset(others), test_s, suite_s)
        return None

    async def judge(self, proposals: Sequence[Change], seconds: float) -> Sequence[VariantResult]:
        """Return for each of many changes of one text whether the tests pass with it, in one process.

        Those that are "open" need a run of their own (see `repairs`), and those that are "late" were not tried.

        Args:
            proposals: The changes.
            seconds: The time after which no other change is tried.
        """
        return await self._run_variants(proposals, self.files, seconds, VARIANT_FACTOR * self.test_s)

    async def judge_rest(self, proposals: Sequence[Change], seconds: float) -> Sequence[VariantResult]:
        """Return the same as `judge`, for all tests of the suite after the failing ones."""
        return await self._run_variants(proposals, (*self.files, *self.suite.files), seconds, self.suite_s)

    async def _run_variants(
        self, proposals: Sequence[Change], files: Sequence[str], seconds: float, variant_s: float
    ) -> Sequence[VariantResult]:
        unknown: list[VariantResult] = ["open"] * len(proposals)
        if not proposals or self.others or any("::" not in name for name in self.files):
            return unknown
        variants = Variants(proposals[0].file, [change.edits for change in proposals], seconds, variant_s)
        texts = texts_before(ChangeSet.of(proposals[0]))
        try:
            return await self.runs.run_variants(self.suite, texts, files, self.test_s, variants)
        except SuiteSkippedError:
            return unknown

    async def repairs(self, changes: ChangeSet) -> bool:
        """Return whether the tests pass with a proposal. They end at the first one that fails."""
        try:
            texts, limit = texts_after(changes), len(self.others) + 1
            run = await self.runs.run_chosen(self.suite, texts, self.files, max_failures=limit, test_s=self.test_s)
        except (OSError, TooLargeError, SuiteSkippedError):
            return False
        return run.is_complete and bool(run.digest.passed) and find_failing(run).keys() <= self.others
