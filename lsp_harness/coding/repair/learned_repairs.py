"""Repairs by fixes that the user accepted before: the same error in other code (see `knowledge.learned`)."""

import asyncio
import re

from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.knowledge.learned.fix_template import ErrorReport
from lsp_harness.syntax.tokens import read_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_names, find_subject_kind

KIND = "learned fix"
FIRST_COST = -2.0
"""Cost of the best learned fix. The user accepted it, so no other repair is as likely."""
COST_STEP = 0.5
WORD = re.compile(r"\w+")


async def apply_learned_fixes(request: RepairRequest) -> list[Repair]:
    """Return what the error cache proposes, the fix that worked most often first."""
    learned = request.learned
    if learned is None:
        return []
    report = create_report(request.finding, request.tree)
    # the files of the cache are read if they have changed
    offers = await asyncio.to_thread(learned.find, report, request.tree)
    return [
        Repair(KIND, edits, FIRST_COST + COST_STEP * number, learned_id=fix.template.id)
        for number, (fix, edits) in enumerate(offers)
    ]


def create_report(finding: Finding, tree: SyntaxTree) -> ErrorReport:
    """Return a finding as the error cache knows it: with all names of its message that the code has there."""
    code_names = {
        token.text
        for token in read_tokens(tree, finding.start, finding.end)
        if token.kind == "name" and token.start < finding.end and token.end > finding.start
    }
    words = [word for word in WORD.findall(finding.message) if word in code_names]
    return ErrorReport(
        finding.source,
        finding.code,
        finding.message,
        tuple(dict.fromkeys([*find_names(finding.message), *words])),
        finding.start,
        finding.end,
        is_about_name=find_subject_kind(finding) == "name",
    )
