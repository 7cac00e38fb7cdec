"""The check by the tests of the project: does a proposal break a test that passed before?"""

from dataclasses import replace
from typing import ClassVar

from lsp_harness.errors import IndexIncomplete
from lsp_harness.text.document import Document
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check, CheckContext
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.comparison import SuiteComparison

NO_TESTS = "this workspace is not trusted, so no tests run"


class SuiteCheck(Check):
    """Fails an edit that breaks a test, or that does not repair the tests that it has to repair.

    Attributes:
        suites: Runs the tests.

    Args:
        suites: Runs the tests.
        must_pass: Ids of failing tests that the edit has to repair.
        wants_repairs: Whether the edit has to repair the failing tests that are about what it changes.
        task: The instruction in words.
        mends_tests: Whether the edit is to repair what fails, so that tests that still fail are no success.
    """

    name = "tests"
    title = "tests"
    feedback_label = "TEST FAIL"
    criterion = (
        "the test files that depend on the changed files fail no test that passed before. They run in a sandbox, on "
        "texts that are not on disk. An edit for a failing test must make it pass. See "
        "[Tests as a check](project-tests.md)"
    )
    setting = "test"
    is_slow: ClassVar[bool] = True

    def __init__(
        self,
        suites: SuiteComparison,
        must_pass: frozenset[str] = frozenset(),
        *,
        wants_repairs: bool = False,
        task: str = "",
        mends_tests: bool = False,
    ) -> None:
        self.suites, self._must_pass = suites, must_pass
        self._wants_repairs, self._task, self._mends_tests = wants_repairs, task, mends_tests

    @classmethod
    def create(cls, context: CheckContext) -> "SuiteCheck | None":
        """Return the check, or None if no tests may run."""
        suites = context.tools.suites
        if suites is None:
            return None
        return cls(
            suites,
            context.must_pass,
            wants_repairs=context.wants_repairs,
            task=context.task,
            mends_tests=context.mends_tests,
        )

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return why no tests run."""
        return super().explain_absence(context) or NO_TESTS

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Run the tests before and after the proposal."""
        try:
            outcome = await self.suites.compare(
                changes, self._must_pass, wants_repairs=self._wants_repairs, task=self._task
            )
        except IndexIncomplete as error:
            # nobody knows which tests depend on the change, so not even that there are none
            outcome = Outcome(self.name, "skipped", reason=error.message, is_temporary=error.is_temporary)
        if outcome.status == "passed" and outcome.still_failing and (self._mends_tests or self._must_pass):
            # the edit broke nothing, but the tests that it was to mend are not all mended
            return replace(outcome, status="skipped", is_unresolved=True)
        if not self._must_pass or outcome.status != "skipped":
            return outcome
        # without the tests nobody knows whether they are repaired
        start = changes.main.start
        return replace(outcome, status="failed", findings=(Finding(start, start, outcome.reason, "tests"),))

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a line such as "TEST FAIL: test_area — assert 3 == 4"."""
        return f"{self.feedback_label}: {finding.message}"
