"""Repairs of findings about code that nothing uses: imports, variables, statements that are never reached."""

import re

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.removal.unused_code import remove_unreachable, remove_unused_variable
from lsp_harness.syntax.removal.unused_imports import remove_unused_import
from lsp_harness.text.edit import Edit

KIND = "removal"
UNREACHABLE = re.compile(r"unreachable|dead code|never (?:be )?reached", re.IGNORECASE)
MUTABLE = re.compile(r"need(?:s)? to be mutable|unused_mut")
DOTTED = re.compile(r"[`'\"]((?:\w+(?:[.\\/]|::))+\w+)[`'\"]")
MUT = re.compile(rb"\bmut\s+")


async def removal(request: RepairRequest) -> list[Repair]:
    """Ways to take away what the finding is about; what may do something stays."""
    finding, subject, tree = request.finding, request.subject, request.tree
    if subject.kind != "removal":
        return []
    said = f"{finding.message} {finding.code}"
    if MUTABLE.search(said):
        found = MUT.search(tree.data, max(0, subject.span.start - 8), subject.span.end + 1)
        return [Repair(KIND, (Edit(*found.span(), b""),), 0.0)] if found else []
    if UNREACHABLE.search(said) or finding.code in ("7027", "CS0162", "W0101"):
        found = remove_unreachable(tree, subject.span)
    else:
        # `a.b`, `a::b`: the last part is what the file calls it
        dotted = [re.split(r"[.\\/]|::", one)[-1] for one in DOTTED.findall(finding.message)]
        names = [*filter(None, (subject.name, *subject.quoted, *dotted))]
        found = remove_unused_import(tree, subject.span, names)
        found = found or (remove_unused_variable(tree, subject.span, subject.name) if subject.name else [])
    return [Repair(KIND, one.edits, one.cost) for one in found]
