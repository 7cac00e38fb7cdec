"""ruff's own fixes as repairs: the safe ones, and the unsafe ones, which may change what the code does."""

from dataclasses import replace
from pathlib import Path

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.unused_removal import remove_blank_start
from lsp_harness.text.document import Document
from lsp_harness.verify.checks import RULE_CODE, is_python
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed, RuffReport

SAFE_COST = 0.2
UNSAFE_COST = 0.6


async def find_linter_repairs(
    finding: Finding, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> list[Repair]:
    """Return ruff's fix for a finding as a repair. The list is empty if ruff has no fix or cannot run.

    Args:
        finding: The finding.
        document: The text of the finding.
        ruff: The linter.
        file: The path of the text. It decides which of ruff's settings apply.
        root: The workspace folder.
    """
    report = await find_fix(finding, document, ruff, file, root)
    if report is None:
        return []
    kind = "ruff's safe fix" if report.is_safe else "ruff's unsafe fix"
    return [Repair(kind, report.fix, SAFE_COST if report.is_safe else UNSAFE_COST, "linter")]


async def find_fix(
    finding: Finding, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> RuffReport | None:
    """Return ruff's report that has a fix, the rule and the line of a finding, and is nearest to it.

    The parameters are those of `find_linter_repairs`. Return None if ruff has no such report or cannot run.
    """
    if not is_python(document, file) or document.is_binary or not RULE_CODE.match(finding.code):
        return None
    try:
        reports = await ruff.check(document, file, root, select=finding.code)
    except RuffFailed:
        return None
    line = document.line_of(finding.start)
    fixes = [report for report in reports if report.fix and document.line_of(report.finding.start) == line]
    nearest = min(fixes, key=lambda report: abs(report.finding.start - finding.start), default=None)
    return replace(nearest, fix=remove_blank_start(document, nearest.fix)) if nearest else None
