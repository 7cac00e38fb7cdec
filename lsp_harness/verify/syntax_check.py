"""The first check: does the proposed text have a syntax error that was not there before?"""

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import find_new_faults
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.document_check import DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome


class SyntaxCheck(DocumentCheck):
    """Fails an edit that adds a syntax error."""

    name = "syntax"
    title = "parse"
    feedback_label = "SYNTAX ERROR"
    criterion = "the edit adds no syntax error"
    setting = "parse_check"

    def skip_reason(self, change: Change) -> str | None:
        """Return why the syntax of a change is not checked, or None if it can be checked.

        A text that could be parsed before the edit, but not after it, is checked: `run` reports the failure.
        """
        if change.tree_before is None or (change.tree_after is None and not change.parse_failure_after):
            return change.no_tree_reason
        return None

    async def run(self, change: Change) -> Outcome:
        """Compare the syntax errors before and after the edit."""
        # other requests are answered while the texts are compared
        return await offload(len(change.after.data), lambda: self._compare(change))

    def format_finding(self, finding: Finding, document: Document) -> str:
        return f"{self.feedback_label} at line {document.line_of(finding.start) + 1}: {finding.message}"

    def _compare(self, change: Change) -> Outcome:
        before, after = change.tree_before, change.tree_after
        if before is None or after is None:
            # a text that cannot be parsed in time any more was broken by the edit
            place = change.start
            reason = change.no_tree_reason
            return Outcome(self.name, "failed", (Finding(place, place, reason, "lsp-harness", self.name),), reason)
        findings = tuple(
            Finding(fault.start, fault.end, fault.message, "lsp-harness", self.name)
            for fault in find_new_faults(before, after, change.edits)
        )
        return Outcome(self.name, "failed" if findings else "passed", findings)
