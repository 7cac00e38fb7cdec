"""What outcomes add up to, in which order checks run, and the fixed form of what they say."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify import feedback
from lsp_harness.verify.change import Change
from lsp_harness.verify.check_runner import run_checks
from lsp_harness.verify.finding import Finding, Outcome, Status, Verdict

FINDING = Finding(0, 1, "bad", "tool", "X1")


def verdict(*statuses: Status) -> Verdict:
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
def test_a_verdict_is_passed_if_something_ran_and_nothing_failed(
    statuses: tuple[Status, ...], passed: bool, rank: int
) -> None:
    found = verdict(*statuses)
    assert (found.passed, found.rank) == (passed, rank)
    assert found.findings == (FINDING,) * statuses.count("failed")


class Says:
    """A check whose answer is known, and which counts how often it is asked."""

    def __init__(self, name: str, status: Status) -> None:
        self.name = name
        self.status: Status = status
        self.asked = 0

    async def run(self, change: Change) -> Outcome:
        self.asked += 1
        return Outcome(self.name, self.status)


CHANGE = Change.from_documents(Document.from_text("file:///a", "a"), Document.from_text("file:///a", "b"), Path("/a"))


@pytest.mark.parametrize(("thorough", "asked"), [(False, [1, 1, 0]), (True, [1, 1, 1])])
async def test_the_first_failure_ends_it_unless_all_are_wanted(thorough: bool, asked: list[int]) -> None:
    checks = [Says("a", "skipped"), Says("b", "failed"), Says("c", "passed")]
    found = await run_checks(CHANGE, checks, thorough=thorough)
    assert [check.asked for check in checks] == asked
    assert [outcome.check for outcome in found.outcomes] == ["a", "b", "c"][: sum(asked)]
    assert found.hash == CHANGE.after.hash


TEXT = Document.from_text("file:///a.py", "\n" * 11 + "    y = 2\n")


@pytest.mark.parametrize(
    ("check", "finding", "expected"),
    [
        ("syntax", Finding(15, 16, "unexpected indent"), "SYNTAX ERROR at line 12: unexpected indent"),
        (
            "lint",
            Finding(15, 16, "Local variable `x` is assigned to but never used", "ruff", "F841"),
            "LINT: F841 Local variable `x` is assigned to but never used",
        ),
        (
            "test",
            Finding(0, 0, "AssertionError: 1 != 2", "pytest", "test_area"),
            "TEST FAIL: test_area — AssertionError: 1 != 2",
        ),
        ("gone", Finding(0, 1, "Undefined name `pi`", "ruff", "F821"), "STILL THERE: F821 Undefined name `pi`"),
        ("gone", Finding(0, 1, "not defined", "tsc"), "STILL THERE: not defined"),
    ],
)
def test_feedback_has_one_fixed_form(check: str, finding: Finding, expected: str) -> None:
    assert feedback.format_finding(check, finding, TEXT) == expected
    assert feedback.format_outcome(Outcome(check, "failed", (finding, finding)), TEXT) == [expected, expected]
