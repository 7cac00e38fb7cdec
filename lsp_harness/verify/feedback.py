"""Findings as lines of text, in one form for the prompt of a retry, the command line and the editor.

SYNTAX ERROR at line 12: unexpected indent
LINT: F841 Local variable `x` is assigned to but never used
NOT KEPT: the edit drops the call `sum()` and adds `0`
TEST FAIL: test_name — AssertionError: …
"""

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding, Outcome


def format_finding(check: str, finding: Finding, document: Document) -> str:
    """Return the line for a finding that the check named `check` has about `document`."""
    if check == "syntax":
        return f"SYNTAX ERROR at line {document.line_of(finding.start) + 1}: {finding.message}"
    if check == "test":
        return f"TEST FAIL: {finding.code} — {finding.message}"
    if check == "kept":
        return f"NOT KEPT: the edit {finding.message}"
    if check == "gone":
        return f"STILL THERE: {finding.code} {finding.message}".replace("  ", " ")
    return f"LINT: {finding.code} {finding.message}"


def format_outcome(outcome: Outcome, document: Document) -> list[str]:
    """Return a line for each finding of an outcome about `document`."""
    return [format_finding(outcome.check, finding, document) for finding in outcome.findings]
