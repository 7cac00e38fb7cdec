"""Checks that do not run: every verdict names them, with the reason."""

from pathlib import Path
from typing import cast

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import SuiteCheck, create_checks, list_checks
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.ruff_linter import Ruff

pytestmark = pytest.mark.process

FILE = Path("/calc.py")
BEFORE = Document.from_text("file:///calc.py", "x = 1\n")
CHANGES = ChangeSet.of(Change.from_documents(BEFORE, Document.from_text(BEFORE.uri, "x = 2\n"), FILE))


class FixedSuites:
    """Tests with a known outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    async def compare(
        self, changes: ChangeSet, must_pass: frozenset[str], *, wants_repairs: bool, task: str
    ) -> Outcome:
        del changes, must_pass, wants_repairs, task
        return self.outcome


def make_suites(outcome: Outcome) -> SuiteComparison:
    return cast("SuiteComparison", FixedSuites(outcome))


@pytest.mark.parametrize(
    ("settings", "name", "reason"),
    [
        (Verification(), "tests", "this workspace is not trusted, so no tests run"),
        (Verification(test=False), "tests", "verification.test is off"),
        (Verification(lint=False), "lint", "verification.lint is off"),
        (Verification(type_check="off"), "types", "verification.type_check is off"),
    ],
)
async def test_a_check_that_does_not_run_is_skipped_with_a_reason(
    settings: Verification, name: str, reason: str
) -> None:
    context = CheckContext(CheckTools(Ruff()))
    verdict = await run_checks(CHANGES, list_checks(settings, context))
    assert [(o.status, o.reason) for o in verdict.outcomes if o.check == name] == [("skipped", reason)]
    assert f"{name} – ({reason})" in verdict.marks
    assert not verdict.is_verified
    assert name not in [check.name for check in create_checks(settings, context)]


def test_checks_without_evidence_or_without_a_finding_are_not_listed_as_absent() -> None:
    names = [check.name for check in list_checks(Verification(), CheckContext(CheckTools(Ruff())))]
    assert {"review", "kept", "gone"}.isdisjoint(names)
    context = CheckContext(CheckTools(Ruff()), Finding(0, 1, "bad"))
    assert "kept" in [check.name for check in list_checks(Verification(kept=False), context)]


PASSED = Outcome("tests", "passed", reason="65 tests; 232 failed before and still fail", still_failing=232)


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (SuiteCheck(make_suites(PASSED), mends_tests=True), ("skipped", True)),
        (SuiteCheck(make_suites(PASSED), frozenset({"test_a.py::test_a"})), ("skipped", True)),
        # another edit is not to blame for tests that failed before
        (SuiteCheck(make_suites(PASSED)), ("passed", False)),
        (SuiteCheck(make_suites(Outcome("tests", "passed")), mends_tests=True), ("passed", False)),
    ],
)
async def test_tests_that_still_fail_are_no_success_of_their_repair(
    check: SuiteCheck, expected: tuple[str, bool]
) -> None:
    outcome = await check.judge(CHANGES)
    assert (outcome.status, outcome.is_unresolved, outcome.reason) == (*expected, outcome.reason)
    verdict = await run_checks(CHANGES, [check])
    assert "tests ✓" in verdict.marks or not verdict.is_verified
