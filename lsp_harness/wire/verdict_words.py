"""The words of a verdict, which every program and page that shows one takes from here.

A sign of success says only what was looked at. A text whose behaviour no test decided is never called verified, however
many checks passed: they looked at its form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

VerdictKind = Literal["verified", "form", "incomplete", "unresolved", "failed", "unchecked"]
"""The kinds of verdict about a text:

- `verified`: tests ran it and passed, or the finding that it repairs is gone.
- `form`: more than its syntax passed, and nothing decided its behaviour.
- `incomplete`: only its syntax was looked at.
- `unresolved`: nothing failed, but something that it was to repair, such as a failing test, is still wrong.
- `failed`: a check failed.
- `unchecked`: no check ran.
"""
STANDINGS: tuple[VerdictKind, ...] = get_args(VerdictKind)

STATUS_MARKS: Mapping[str, str] = {"passed": "✓", "failed": "✗", "skipped": "–"}
"""Status of a check → the sign that people see."""
BEHAVIOUR_CHECKS = frozenset({"tests"})
"""The checks that decide what a text does."""
GOAL_CHECKS = frozenset({"gone"})
"""The checks that decide whether an edit has repaired the finding that it is about."""
SYNTAX_CHECK = "syntax"
OPINION_CHECK = "review"
CHECK_TITLES = {SYNTAX_CHECK: "parse"}
"""Names of checks that people see under another name."""
MAX_REASON_CHARS = 110

FORM_ONLY = f"form {STATUS_MARKS['passed']}, behaviour not checked"
ONLY_SYNTAX = f"{FORM_ONLY}; only the syntax was looked at"


class CheckResult(Protocol):
    """The result of one check: an `Outcome`, or its report in an event."""

    @property
    def check(self) -> str:
        """The name of the check."""
        ...

    @property
    def status(self) -> str:
        """The status of the check, one of `STATUS_MARKS`."""
        ...

    @property
    def reason(self) -> str:
        """Why the check was skipped, or another remark about it."""
        ...

    @property
    def extent(self) -> str:
        """The part that was checked, if it was not everything."""
        ...

    @property
    def is_opinion(self) -> bool:
        """True if the outcome is the opinion of a model."""
        ...

    @property
    def is_unresolved(self) -> bool:
        """True if something that the text was to repair is still wrong."""
        ...


@dataclass(frozen=True, slots=True)
class ReportedResult:
    """A `CheckResult` that was read from the data of an event."""

    check: str
    status: str
    reason: str = ""
    extent: str = ""
    is_opinion: bool = False
    is_unresolved: bool = False

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ReportedResult":
        """Return the result of a report in an event. What is absent or has another type is empty."""

        def text(key: str) -> str:
            return value if isinstance(value := data.get(key), str) else ""

        is_opinion, is_unresolved = data.get("is_opinion") is True, data.get("is_unresolved") is True
        return cls(text("check"), text("status"), text("reason"), text("extent"), is_opinion, is_unresolved)


def find_standing(results: Iterable[CheckResult]) -> VerdictKind:
    """Return what the results of all checks say together."""
    listed = list(results)
    if any(result.status == "failed" for result in listed):
        return "failed"
    if any(result.is_unresolved for result in listed):
        return "unresolved"
    passed = {result.check for result in listed if result.status == "passed" and not result.is_opinion}
    if not passed:
        return "unchecked"
    if passed & (BEHAVIOUR_CHECKS | GOAL_CHECKS):
        return "verified"
    return "incomplete" if passed == {SYNTAX_CHECK} else "form"


def describe_standing(results: Sequence[CheckResult]) -> str:
    """Return a verdict in a few words, for titles."""
    match find_standing(results):
        case "verified":
            return f"verified {STATUS_MARKS['passed']}"
        case "form":
            return FORM_ONLY
        case "incomplete":
            return ONLY_SYNTAX
        case "unresolved":
            named = [_make_title(result) for result in results if result.is_unresolved]
            return f"not verified {STATUS_MARKS['skipped']}, still wrong: {', '.join(named)}"
        case "failed":
            named = [_make_title(result) for result in results if result.status == "failed"]
            return f"failed {STATUS_MARKS['failed']} {', '.join(named)}"
        case "unchecked":
            return f"not checked {STATUS_MARKS['skipped']}"


def explain_standing(results: Sequence[CheckResult]) -> str:
    """Return a verdict in a sentence: its words, and why no test decided the behaviour."""
    words = describe_standing(results)
    standing = find_standing(results)
    if standing == "failed":
        return words
    if standing == "unchecked":
        reasons = [result.reason for result in results if result.reason]
    else:
        undecided = (result for result in results if result.check in BEHAVIOUR_CHECKS and result.status == "skipped")
        reasons = [result.reason for result in undecided if result.reason]
        if standing == "verified" and reasons:
            return f"{words}, no tests: {shorten_reason(reasons[0])}"
    return f"{words}: {shorten_reason(reasons[0])}" if reasons else words


def conclude(subject: str, standing: str, words: str, marks: str) -> str:
    """Return a sentence about a checked edit: "Candidate 3 passes (…)" only if it is verified, else its words.

    Args:
        subject: The edit, or who made it.
        standing: What its verdict says.
        words: The verdict in a few words.
        marks: Each check with a mark.
    """
    said = f"{subject} passes" if standing == "verified" else f"{subject}: {words}"
    return f"{said} ({marks})" if marks else said


def mark_check(result: CheckResult, title: str = "") -> str:
    """Return a check with the sign of its status and the part that was checked: "tests ✓ (24 of 53 files)"."""
    sign = STATUS_MARKS.get(result.status, STATUS_MARKS["skipped"])
    return f"{title or _make_title(result)} {sign}" + (f" ({result.extent})" if result.extent else "")


def explain_check(result: CheckResult, title: str = "") -> str:
    """Return a check with its sign and with what it is worth: why it was skipped, or which tests ran.

    Examples are "tests ✓ (24 of 53 files; 120 tests, 5 of 6 changed lines)" and "tests – (no test depends on a.py)".
    """
    says_why = result.status == "skipped" or result.check in BEHAVIOUR_CHECKS
    parts = (result.extent, shorten_reason(result.reason) if says_why else "")
    remark = "; ".join(part for part in parts if part)
    sign = STATUS_MARKS.get(result.status, STATUS_MARKS["skipped"])
    return f"{title or _make_title(result)} {sign}" + (f" ({remark})" if remark else "")


def shorten_reason(text: str, limit: int = MAX_REASON_CHARS) -> str:
    """Return a reason as one line of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _make_title(result: CheckResult) -> str:
    title = getattr(result, "title", "")
    return title or CHECK_TITLES.get(result.check, result.check)
