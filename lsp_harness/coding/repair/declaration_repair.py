"""A repair of the first assignment to a name of Go that should declare it: `total := 0` in place of `total = 0`."""

import re

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

KIND = "declaration"
COST = 0.5
"""The cost of a likely misspelling. If a similar name is declared, either repair may be intended."""
ASSIGNMENT = re.compile(rb"(?:\s*,\s*\w+)*\s*(=)(?!=)")


async def declare_name(request: RepairRequest) -> list[Repair]:
    """Replace `=` by `:=` after a name that its function uses again below."""
    subject, tree = request.subject, request.tree
    if not tree.language.names.declaring_sign or subject.kind != "name" or not subject.name:
        return []
    assignment = ASSIGNMENT.match(tree.data, subject.span.end)
    line_start = tree.document.line_span(tree.document.line_of(subject.span.start))[0]
    if not assignment or not re.fullmatch(
        rb"\s*(?:\w+\s*,\s*)*|.*\b(?:if|for|switch)\s+", tree.data[line_start : subject.span.start]
    ):
        return []
    occurrence = next(
        (occurrence for occurrence in find_occurrences(tree, subject.name) if occurrence.span == subject.span), None
    )
    if occurrence is None or occurrence.scope_kind != "function":
        return []
    later_uses = find_occurrences(
        tree, subject.name, Span(assignment.end(), max(assignment.end(), occurrence.scope.end))
    )
    return (
        [Repair(KIND, (Edit(*assignment.span(1), encode(tree.language.names.declaring_sign)),), COST)]
        if any(later_uses)
        else []
    )
