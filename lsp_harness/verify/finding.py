"""Findings about a text, the outcome of one check, and the verdict over all checks."""

from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.wire.verdict_words import (
    VerdictKind,
    conclude,
    describe_standing,
    explain_check,
    explain_standing,
    find_standing,
    mark_check,
)

Severity = Literal["error", "warning", "information", "hint"]
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A line of another file that a finding is about, such as that of a failing test.

    Attributes:
        path: The file, absolute.
        line: The line, counted from 1.
        message: What the finding says about this place.
    """

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in a range of a text.

    Attributes:
        start: The first byte of the range.
        end: The byte after the range.
        message: What is wrong, in the words of the tool.
        source: The tool.
        code: The rule of the tool.
        severity: How serious it is.
        related: Places in other files.
    """

    start: int
    end: int
    message: str
    source: str = ""
    code: str = ""
    severity: Severity = "error"
    related: tuple[RelatedPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one check of one text.

    Attributes:
        check: The name of the check.
        status: Whether the text passed. A skipped check never counts as passed.
        findings: What is wrong, if the check failed.
        reason: Why the check was skipped, or another remark.
        ms: How long the check took.
        lines: The findings as lines of text, such as "LINT: F821 Undefined name `pi`", in their order. Those of other
            documents follow.
        title: The name of the check that people read, if it is another one.
        is_opinion: Whether it is the opinion of a model, which alone never lets a text pass.
        count: The number of things that are wrong, if `findings` are only the first of them.
        extent: The part that was checked, such as "24 of 31 files", if it was not everything.
        is_unresolved: Whether the text was meant to repair something that is still wrong, such as failing tests. It
            may pass, because it breaks nothing, but it is never called verified.
        is_temporary: Whether the check was skipped for a reason that passes by itself, such as an index that is being
            made. The same text is checked again then.
        still_failing: The number of tests that failed before and still fail, if the check ran tests.
    """

    check: str
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    ms: float = 0.0
    lines: tuple[str, ...] = ()
    title: str = field(default="", compare=False)
    is_opinion: bool = False
    count: int = 0
    extent: str = ""
    is_unresolved: bool = False
    is_temporary: bool = False
    still_failing: int = 0

    @property
    def mark(self) -> str:
        """The check with a sign for its status, such as "parse ✓" or "tests ✓ (24 of 31 files)"."""
        return mark_check(self, self.title or self.check)

    @property
    def explained_mark(self) -> str:
        """The mark with why the check was skipped, or which tests ran: "tests – (no test depends on a.py)"."""
        return explain_check(self, self.title or self.check)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcomes of all checks of the text whose content hash is `hash`."""

    hash: str
    outcomes: tuple[Outcome, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """True if no check failed and at least one ran that is no opinion. Such a text may be offered.

        It says nothing about what the checks did not look at, so people read `words`.
        """
        ran = [outcome for outcome in self.outcomes if outcome.status != "skipped"]
        return any(not outcome.is_opinion for outcome in ran) and all(outcome.status == "passed" for outcome in ran)

    @property
    def kind(self) -> VerdictKind:
        """The kind of verdict that the outcomes make together. Only `verified` is success."""
        return find_standing(self.outcomes)

    @property
    def is_verified(self) -> bool:
        """True if nothing failed and something decided the matter: tests of it, or a finding that is gone."""
        return self.kind == "verified"

    @property
    def words(self) -> str:
        """The verdict in a few words, such as "form ✓, behaviour not checked"."""
        return describe_standing(self.outcomes)

    @property
    def explanation(self) -> str:
        """The words of the verdict, with the reason if no test decided the behaviour."""
        return explain_standing(self.outcomes)

    @property
    def label(self) -> str:
        """The verdict for a title: each check with its mark, after the words if it is not verified."""
        return self.short_marks if self.is_verified else f"{self.words} ({self.short_marks})"

    def conclude(self, subject: str) -> str:
        """Return a sentence about the text: "`subject` passes (…)" if it is verified, else the words of the verdict."""
        return conclude(subject, self.kind, self.words, self.marks)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the checks that failed."""
        return tuple(finding for outcome in self.outcomes if outcome.status == "failed" for finding in outcome.findings)

    @property
    def marks(self) -> str:
        """Each check with a mark, and why it was skipped: "parse ✓, tests – (no test depends on a.py)"."""
        return ", ".join(outcome.explained_mark for outcome in self.outcomes)

    @property
    def short_marks(self) -> str:
        """Each check with a mark for its outcome only, for titles: "parse ✓, tests –"."""
        return ", ".join(outcome.mark for outcome in self.outcomes)

    @property
    def rank(self) -> int:
        """The number of checks before the first failure. A text of a higher rank is closer to a correct one."""
        rank = 0
        for outcome in self.outcomes:
            if outcome.status == "failed":
                return rank
            rank += 1
        return rank
