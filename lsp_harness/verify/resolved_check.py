"""The last check of a fix: is the finding absent from the proposed text?

We can ask ruff about its own rules and the parser about syntax errors. A finding of another tool counts as resolved if
a finding of ours at the same place disappears. If we have no finding there, the check is skipped and names the tool
that could answer.

A rule that is still reported at the place of the finding, moved through the edits, is still there, whatever names it
speaks of now. Elsewhere, a finding is recognized by its rule and the names that it is about.
"""

import re

from lsp_harness.process.offload import offload
from lsp_harness.syntax.remaining_errors import find_remaining_faults
from lsp_harness.syntax.syntax_errors import find_error_regions, find_python_fault
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.document_check import DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import find_remaining, find_targets
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

RULE_CODE = re.compile(r"[A-Z]{1,5}\d{1,4}\Z")
"""The form of ruff's rules."""
SHARED_RULES = ("F", "E9", "invalid-syntax")
"""Prefixes of ruff's rules about what type checkers and compilers report too: unknown names, unused code, syntax
errors."""


class ResolvedCheck(DocumentCheck):
    """Fails an edit that leaves the finding in the text."""

    name = "gone"
    title = "gone"
    feedback_label = "STILL THERE"
    criterion = (
        "the diagnostic is gone. It is still there if its rule is reported at its place, whatever names the message "
        "has now, or with its names elsewhere. A syntax error that only moved is still there"
    )
    setting = "lint"
    is_about_finding = True

    def __init__(self, ruff: Ruff, finding: Finding, names: NameErrors | None = None) -> None:
        self._ruff = ruff
        self._finding = finding
        self._names = names

    @classmethod
    def create(cls, context: CheckContext) -> "ResolvedCheck | None":
        """Return the check for the repair of a finding."""
        names = context.tools.names if context.settings.type_check != "off" else None
        return cls(context.tools.ruff, context.finding, names) if context.finding else None

    async def run(self, change: Change) -> Outcome:
        """Look for the finding in the proposed text. Skip if neither the parser nor ruff knows it."""
        try:
            outcome = await offload(len(change.after.data), lambda: self._check_syntax(change))
            return outcome or await self._check_lint(change)
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)

    def _check_syntax(self, change: Change) -> Outcome | None:
        """Return the outcome for a syntax error, or None if the finding is about something else."""
        before, after = change.tree_before, change.tree_after
        if before is None or after is None or find_subject(self._finding, change.before, before).kind != "syntax":
            return None
        if not find_error_regions(before) and (
            not before.language.compiles_in_process or find_python_fault(before.data) is None
        ):
            return Outcome(self.name, "skipped", reason="the text parses without it")
        remaining = find_remaining_faults(before, after, change.edits, Span(self._finding.start, self._finding.end))
        findings = tuple(Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in remaining[:1])
        return Outcome(self.name, "failed" if remaining else "passed", findings)

    async def _check_lint(self, change: Change) -> Outcome:
        """Return the outcome by the findings of ruff, or else of the type checker. Raises RuffFailed."""
        for read in (self._read_findings, self._read_name_errors):
            before = await read(change.before, change)
            if targets := find_targets(self._finding, before):
                remaining = find_remaining(change, targets, before, await read(change.after, change))
                return Outcome(self.name, "failed" if remaining else "passed", tuple(remaining[:1]))
        tool = self._finding.source or "the tool that reported it"
        return Outcome(self.name, "skipped", reason=f"only {tool} can say whether it is gone")

    async def _read_name_errors(self, document: Document, change: Change) -> list[Finding]:
        """Return the errors of the type checker about names, or none if it cannot say anything."""
        if self._names is None or RULE_CODE.match(self._finding.code):
            return []
        try:
            return [*await self._names.find(document, change.file, change.root)]
        except NothingComparedError:
            return []

    async def _read_findings(self, document: Document, change: Change) -> list[Finding]:
        """Return ruff's findings by the rule of the finding, or by the shared rules. Raises RuffFailed."""
        if not is_python(document, change.file) or self._ruff.missing_reason:
            return []
        code = self._finding.code if RULE_CODE.match(self._finding.code) else ""
        reports = await self._ruff.check(document, change.file, change.root, select=code)
        return [report.finding for report in reports if code or report.finding.code.startswith(SHARED_RULES)]
