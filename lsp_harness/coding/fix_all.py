"""Fixes several findings of one text, one after another, and joins the fixes into one edit."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.edit_task import EditTask, ExistingEdits
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import NoAnswer
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, line_edits
from lsp_harness.text.wording import format_count
from lsp_harness.verify.checks import ResolvedCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.wire.verdict_words import GOAL_CHECKS

FixOne = Callable[[Document, Finding], Awaitable[Proposal]]
"""Returns the verified fix of a finding in a version of the text. Raises NoAnswer."""
MAX_REASONS = 3
"""Most reasons that the summary names."""


@dataclass(slots=True)
class FixSequence:
    """The fixes of several findings of one text.

    Attributes:
        document: The text.
        findings: The findings in it.
        changed: The text with the fixes until now.
        fixed_count: The number of findings that are fixed.
        reasons: Why the others are not.
        is_by_model: Whether the model wrote or chose one of the fixes.
        gone_count: The number of fixes whose finding is known to be gone.
    """

    document: Document
    findings: Sequence[Finding]
    changed: Document = field(init=False)
    fixed_count: int = field(default=0, init=False)
    reasons: list[str] = field(default_factory=list[str], init=False)
    is_by_model: bool = field(default=False, init=False)
    gone_count: int = field(default=0, init=False)

    async def run(self, fix: FixOne) -> None:
        """Fix the findings in the order of the text. Raise NoAnswer if none can be fixed."""
        self.changed = self.document
        open_findings = sorted(self.findings, key=lambda finding: finding.start)
        while open_findings:
            finding, *open_findings = open_findings
            try:
                proposal = await fix(self.changed, finding)
            except NoAnswer as error:
                line = self.changed.line_of(finding.start) + 1
                self.reasons.append(f"line {line}: {error.message.removesuffix('; nothing was changed')}")
                continue
            self.changed = proposal.changes.main.after
            self.fixed_count += 1
            self.gone_count += any(o.check in GOAL_CHECKS and o.status == "passed" for o in proposal.verdict.outcomes)
            self.is_by_model |= proposal.is_by_model
            open_findings = [moved for other in open_findings if (moved := move_finding(other, proposal.edits))]
        if not self.fixed_count:
            raise NoAnswer(
                f"none of {format_count(len(self.findings), 'diagnostic')} could be fixed: {self.reasons[0]}"
            )

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of the check that the fixed findings are gone."""
        name, title, total = ResolvedCheck.name, ResolvedCheck.title, len(self.findings)
        if self.gone_count < self.fixed_count:
            reason = f"only {self.gone_count} of {format_count(self.fixed_count, 'fix', 'fixes')} could be looked at"
            return (Outcome(name, "skipped", reason=reason, title=title),)
        extent = f"{self.gone_count} of {format_count(total, 'diagnostic')}" if self.gone_count < total else ""
        return (Outcome(name, "passed", title=title, extent=extent),)

    @property
    def title(self) -> str:
        """The fixes as the subject of a sentence."""
        return f"the fix of {self.fixed_count} of {format_count(len(self.findings), 'diagnostic')}"

    @property
    def remainder(self) -> str:
        """The findings that are left, with the reasons, behind a semicolon. Empty if there are none."""
        if not self.reasons:
            return ""
        more = [f"{len(self.reasons) - MAX_REASONS} more"] * (len(self.reasons) > MAX_REASONS)
        return f"; left: {'; '.join([*self.reasons[:MAX_REASONS], *more])}"


def move_finding(finding: Finding, edits: Sequence[Edit]) -> Finding | None:
    """Return a finding at its place after some edits, or None if one of them replaces its whole place."""
    start, end = finding.start, finding.end
    for edit in edits:
        growth = len(edit.new) - (edit.end - edit.start)
        if edit.end <= finding.start:
            start, end = start + growth, end + growth
        elif edit.start <= finding.start and edit.end >= finding.end:
            return None
        elif edit.start < finding.end:
            end = max(start, end + growth)
    return replace(finding, start=start, end=end)


@dataclass(frozen=True, slots=True)
class JoinFixes(EditTask):
    """The task that checks the text with all fixes against the text without them."""

    context: TurnContext
    fixes: FixSequence

    async def find_existing_edits(self) -> ExistingEdits:
        edits = line_edits(self.context.document.data, self.fixes.changed.data)
        # each fix was looked at by itself, on the text with those before it
        return ExistingEdits(edits, self.fixes.title, self.fixes.outcomes)

    async def create_source(self, checked: CandidateChecks | None = None) -> CandidateSource:
        raise NoAnswer("fixes are joined without a model")
