"""The first assignment to a name of Go that should declare it: `total = 0` for `total := 0`."""

import re

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span

KIND = "declaration"
COST = 0.5
"""As much as a likely misspelling: where a name that is near is declared, both may be meant."""
ASSIGNED = re.compile(rb"(?:\s*,\s*\w+)*\s*(=)(?!=)")


async def missing_declaration(request: RepairRequest) -> list[Repair]:
    """`:=` in the place of `=` behind a name that is used again further down in its function."""
    subject, tree = request.subject, request.tree
    if tree.language.id != "go" or subject.kind != "name" or not subject.name:
        return []
    found = ASSIGNED.match(tree.data, subject.span.end)
    line = tree.document.line_span(tree.document.line_of(subject.span.start))[0]
    if not found or not re.fullmatch(
        rb"\s*(?:\w+\s*,\s*)*|.*\b(?:if|for|switch)\s+", tree.data[line : subject.span.start]
    ):
        return []
    here = next((one for one in find_occurrences(tree, subject.name) if one.span == subject.span), None)
    if here is None or here.scope_kind != "function":
        return []
    later = find_occurrences(tree, subject.name, Span(found.end(), max(found.end(), here.scope.end)))
    return [Repair(KIND, (Edit(*found.span(1), b":="),), COST)] if any(later) else []
