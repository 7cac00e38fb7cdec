"""ruff's own fixes as repairs: the safe ones, and those that ruff does not apply by itself because they may change what the code does."""

from pathlib import Path

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.resolved_check import RULE_CODE
from lsp_harness.verify.ruff_linter import Report, Ruff, RuffFailed

SAFE_COST = 0.2
UNSAFE_COST = 0.6


async def linter_repairs(
    finding: Finding, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> list[Repair]:
    """The fix that ruff has for this very finding; none where it has none or cannot be asked."""
    report = await own_fix(finding, document, ruff, file, root)
    if report is None:
        return []
    kind = "ruff's safe fix" if report.is_safe else "ruff's unsafe fix"
    return [Repair(kind, report.fix, SAFE_COST if report.is_safe else UNSAFE_COST, "linter")]


async def own_fix(finding: Finding, document: Document, ruff: Ruff, file: Path, root: Path | None) -> Report | None:
    """ruff's report with a fix, of the same rule and line, nearest to the finding."""
    if not is_python(document, file) or document.is_binary or not RULE_CODE.match(finding.code):
        return None
    try:
        reports = await ruff.check(document, file, root, select=finding.code)
    except RuffFailed:
        return None
    line = document.line_of(finding.start)
    same = [report for report in reports if report.fix and document.line_of(report.finding.start) == line]
    return min(same, key=lambda report: abs(report.finding.start - finding.start), default=None)
