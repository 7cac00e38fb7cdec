"""Tests of the verdict of several outcomes, the order of checks, and the fixed form of their messages."""

from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, DocumentCheck, run_checks
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.finding import Finding, Outcome, Status, Verdict
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.ruff_linter import Ruff

FINDING = Finding(0, 1, "bad", "tool", "X1")


def make_verdict(*statuses: Status) -> Verdict:
    found = {"failed": (FINDING,)}
    return Verdict("hash", tuple(Outcome(str(n), status, found.get(status, ())) for n, status in enumerate(statuses)))


@pytest.mark.parametrize(
    ("statuses", "passed", "rank"),
    [
        ((), False, 0),
        (("skipped",), False, 1),
        (("skipped", "skipped"), False, 2),
        (("passed",), True, 1),
        (("passed", "skipped"), True, 2),
        (("skipped", "passed"), True, 2),
        (("failed",), False, 0),
        (("passed", "failed"), False, 1),
        (("skipped", "failed", "passed"), False, 1),
    ],
)
def test_a_verdict_is_passed_if_a_check_ran_and_none_failed(
    statuses: tuple[Status, ...], passed: bool, rank: int
) -> None:
    found = make_verdict(*statuses)
    assert (found.passed, found.rank) == (passed, rank)
    assert found.findings == (FINDING,) * statuses.count("failed")


class FixedCheck(DocumentCheck):
    """A check with a known answer, which counts its runs."""

    title = ""

    def __init__(self, name: str, status: Status) -> None:
        self.name = name  # pyright: ignore[reportAttributeAccessIssue]
        self.status: Status = status
        self.asked = 0

    async def run(self, change: Change) -> Outcome:
        self.asked += 1
        return Outcome(self.name, self.status)


CHANGE = Change.from_documents(Document.from_text("file:///a", "a"), Document.from_text("file:///a", "b"), Path("/a"))


@pytest.mark.parametrize(("second", "asked"), [("failed", [1, 1, 0]), ("skipped", [1, 1, 1])])
async def test_the_first_failure_ends_the_checks(second: Status, asked: list[int]) -> None:
    checks = [FixedCheck("a", "skipped"), FixedCheck("b", second), FixedCheck("c", "passed")]
    found = await run_checks(ChangeSet.of(CHANGE), checks)
    assert [check.asked for check in checks] == asked
    assert [outcome.check for outcome in found.outcomes] == ["a", "b", "c"][: sum(asked)]
    assert found.hash == CHANGE.after.hash


TEXT = Document.from_text("file:///a.py", "\n" * 11 + "    y = 2\n")


@pytest.mark.parametrize(
    ("name", "finding", "expected"),
    [
        ("syntax", Finding(15, 16, "unexpected indent"), "SYNTAX ERROR at line 12: unexpected indent"),
        (
            "lint",
            Finding(15, 16, "Local variable `x` is assigned to but never used", "ruff", "F841"),
            "LINT: F841 Local variable `x` is assigned to but never used",
        ),
        ("kept", Finding(15, 16, "drops `x`", "lsp-harness", "kept"), "NOT KEPT: the edit drops `x`"),
        ("gone", Finding(0, 1, "Undefined name `pi`", "ruff", "F821"), "STILL THERE: F821 Undefined name `pi`"),
        ("gone", Finding(0, 1, "not defined", "tsc"), "STILL THERE: not defined"),
    ],
)
def test_feedback_has_one_fixed_form(name: str, finding: Finding, expected: str) -> None:
    context = CheckContext(CheckTools(Ruff()), finding, find_subject(finding, TEXT, None))
    [check] = [check for check in create_checks(Verification(), context) if check.name == name]
    assert check.format_finding(finding, TEXT) == expected
