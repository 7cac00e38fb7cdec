"""One line per finding, in one fixed form: for the retry prompt, the command line and the editor alike.

SYNTAX ERROR at line 12: unexpected indent
LINT: F841 Local variable `x` is assigned to but never used
NOT KEPT: the edit drops the call `sum()` and adds `0`
TEST FAIL: test_name — AssertionError: …
"""

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding, Outcome


def format_finding(check: str, finding: Finding, document: Document) -> str:
    """The feedback line of one finding about `document`."""
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
    return [format_finding(outcome.check, finding, document) for finding in outcome.findings]
