"""The interface of a check, its forms, and the run of checks in order.

A check is one question about a proposal: about one document at a time, or about what a tool finds only after it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar, Self

from lsp_harness.config.schema import Verification
from lsp_harness.process.offload import offload
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding import Finding, Outcome, Status, Verdict
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.project_tools.changed_line_format import ChangedLineFormat
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import Comparison, NothingComparedError
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class CheckTools:
    """The programs that the checks of one client use.

    Attributes:
        ruff: The linter.
        suites: Runs the tests of projects. None if no tests may run.
        linters: Runs the linters that read files. None if none may run.
        types: Finds type errors. None if no type checker may run.
        names: Finds errors about names, attributes, arguments and imports. None if no type checker may run.
        reviewer: Asks a model for its opinion. None if there is no model.
        format: Formats the changed lines before the checks. None if no formatter may run.
    """

    ruff: Ruff
    suites: SuiteComparison | None = None
    linters: ToolComparison | None = None
    types: TypeComparison | None = None
    reviewer: Reviewer | None = None
    names: NameErrors | None = None
    format: ChangedLineFormat | None = None


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The tools of the checks, and the purpose of the edit.

    Attributes:
        tools: The linter, type checkers and test runners.
        finding: The finding to repair, or None if the edit has another purpose.
        subject: What the finding is about, or None if there is no finding.
        task: The request in words. It may be empty.
        must_pass: Ids of failing tests that the edit has to repair.
        wants_repairs: Whether the edit has to repair the failing tests that are about what it changes.
        settings: The settings of the checks.
        mends_tests: Whether the turn is to repair what fails, so that tests that still fail are no success.
    """

    tools: CheckTools
    finding: Finding | None = None
    subject: Subject | None = None
    task: str = ""
    must_pass: frozenset[str] = frozenset()
    wants_repairs: bool = False
    settings: Verification = field(default_factory=Verification)
    mends_tests: bool = False


class Check(ABC):
    """One question about a proposal, which an edit must pass before it is offered.

    A check is one class and one line in `checks.CHECKS`. Its attributes give its texts to the table of candidates, the
    verdict document, the prompt of a retry and `docs/checks.md`. Most checks read one document at a time
    (`DocumentCheck`).

    Attributes:
        name: The name in events, in the session log and in JSON. It never changes.
        title: The name that people read, in the head of a column and in messages.
        feedback_label: The first words of a line about a finding, such as "LINT".
        criterion: The condition to pass, as Markdown. It continues the words "passes if".
        setting: The key of `[verification]` that turns the check on. A check without a setting always runs.
        is_about_finding: Whether the question is about the finding that an edit repairs. Other edits are then not
            checked.
        is_slow: Whether it may take seconds. Edits that no model made are shown before such a check has run.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    feedback_label: ClassVar[str]
    criterion: ClassVar[str]
    setting: ClassVar[str] = ""
    is_about_finding: ClassVar[bool] = False
    is_slow: ClassVar[bool] = False

    @classmethod
    def create(cls, context: CheckContext) -> Self | None:
        """Return the check, or None if an edit of this purpose is not checked."""
        del context
        return cls()

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return why an edit of this purpose is not checked although it could be, or an empty text.

        It is asked if there is no check. A check that is about a finding is not missed by edits without one.
        """
        if cls.is_about_finding and context.finding is None:
            return ""
        value = getattr(context.settings, cls.setting, True) if cls.setting else True
        return f"verification.{cls.setting} is off" if value in (False, "off") else ""

    @abstractmethod
    async def judge(self, changes: ChangeSet) -> Outcome:
        """Return the outcome for a proposal. Never raise because of the texts, only because of a bug."""

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a finding about `document` as one line, for prompts, messages and the log."""
        del document
        return " ".join(part for part in (f"{self.feedback_label}:", finding.code, finding.message) if part)


class DocumentCheck(Check):
    """A question about the change of one document. A check that is about a finding reads only the main document."""

    def skip_reason(self, change: Change) -> str | None:
        """Return why the check cannot run for a change, or None if it can. This may parse a long text."""
        del change
        return None

    @abstractmethod
    async def run(self, change: Change) -> Outcome:
        """Return the outcome. Never raise because of the text, only because of a bug."""

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Run the check on each document, and combine the outcomes."""
        targets = [changes.main] if self.is_about_finding else changes.changes
        outcomes = [await self._judge_document(change) for change in targets]
        return outcomes[0] if len(outcomes) == 1 else _combine(changes, outcomes)

    async def _judge_document(self, change: Change) -> Outcome:
        # other requests are answered while a long text is parsed
        reason = await offload(len(change.after.data), lambda: self.skip_reason(change))
        if reason is not None:
            return Outcome(self.name, "skipped", reason=reason)
        outcome = await self.run(change)
        return replace(outcome, lines=tuple(self.format_finding(finding, change.after) for finding in outcome.findings))


def _combine(changes: ChangeSet, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of one check for all documents. Its `findings` are those of the main document.

    The lines of the other documents begin with their path. The check passed if it passed for one document and failed
    for none.
    """
    main = outcomes[0]
    statuses = {outcome.status for outcome in outcomes}
    status: Status = "failed" if "failed" in statuses else "passed" if "passed" in statuses else "skipped"
    lines = list(main.lines)
    for change, outcome in zip(changes.changes[1:], outcomes[1:], strict=True):
        lines += [f"{change.file.name}: {line}" for line in outcome.lines]
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    return replace(main, status=status, reason=reasons, lines=tuple(lines))


class ComparisonCheck(Check):
    """A check that fails a proposal for the findings that it adds. Findings that the text had before do not count."""

    @abstractmethod
    async def compare(self, changes: ChangeSet) -> Comparison:
        """Return the findings that the proposal adds.

        Raises:
            NothingComparedError: No tool can say anything about the proposal.
        """

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Compare, and return the new findings. Those of other documents than the main one are lines with a path."""
        try:
            comparison = await self.compare(changes)
        except NothingComparedError as error:
            return Outcome(self.name, "skipped", reason=str(error), is_temporary=error.is_temporary)
        lines: list[str] = []
        for new in sorted(comparison.new, key=lambda new: new.change is not changes.main):
            line = self.format_finding(new.finding, new.change.after)
            lines.append(line if new.change is changes.main else f"{new.change.file.name}: {line}")
        findings = tuple(new.finding for new in comparison.new if new.change is changes.main)
        status = "failed" if comparison.new else "passed"
        return Outcome(self.name, status, findings, "; ".join(comparison.refusals), lines=tuple(lines))


class AbsentCheck(Check):
    """The place of a check that the settings switch off, or that cannot run here.

    Args:
        check: The check that does not run.
        reason: Why it does not run.
    """

    def __init__(self, check: type[Check] | Check, reason: str) -> None:
        # the attributes of a check belong to its class, and this one stands for any of them
        self.name, self.title = check.name, check.title  # pyright: ignore[reportAttributeAccessIssue]
        self.feedback_label = check.feedback_label  # pyright: ignore[reportAttributeAccessIssue]
        self._reason = reason

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Return the outcome of a check that was skipped, with the reason."""
        del changes
        return Outcome(self.name, "skipped", reason=self._reason)


async def run_check(check: Check, changes: ChangeSet) -> Outcome:
    """Run one check. Measure its time, unless it was skipped, and format its findings."""
    start = perf_counter()
    outcome = await check.judge(changes)
    lines = outcome.lines or tuple(check.format_finding(finding, changes.main.after) for finding in outcome.findings)
    ms = 0.0 if outcome.status == "skipped" else (perf_counter() - start) * 1000
    return replace(outcome, lines=lines, title=check.title, ms=ms)


async def run_checks(changes: ChangeSet, checks: Sequence[Check]) -> Verdict:
    """Run checks on a proposal and return the verdict. The first check that fails is the last one.

    Args:
        changes: The proposed edits.
        checks: The checks, from cheap to expensive.
    """
    outcomes: list[Outcome] = []
    for check in checks:
        outcome = await run_check(check, changes)
        outcomes.append(outcome)
        if outcome.status == "failed":
            break
    return Verdict(changes.hash, tuple(outcomes))
