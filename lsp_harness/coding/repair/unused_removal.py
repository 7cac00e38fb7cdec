"""Repairs that remove code which nothing uses: imports, variables, and statements that are never reached."""

import re
from collections.abc import Sequence

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.removal.unused_code import remove_unreachable, remove_unused_variable
from lsp_harness.syntax.removal.unused_imports import remove_unused_import
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

KIND = "removal"
UNREACHABLE_MESSAGE = re.compile(r"unreachable|dead code|never (?:be )?reached", re.IGNORECASE)
MUTABLE_MESSAGE = re.compile(r"need(?:s)? to be mutable|unused_mut")
DOTTED_NAME = re.compile(r"[`'\"]((?:\w+(?:[.\\/]|::))+\w+)[`'\"]")
MUT_KEYWORD = re.compile(rb"\bmut\s+")
BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)+")


def remove_blank_start(document: Document, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return edits of a text that also remove blank lines which would be its first lines.

    They stood below the first statement, which one of the edits removes.
    """

    def extend(edit: Edit, limit: int) -> Edit:
        is_removal = edit.start <= document.mark_size < edit.end and not edit.new
        blank = BLANK_LINES.match(document.data, edit.end, limit) if is_removal else None
        return edit._replace(end=blank.end()) if blank else edit

    ordered = sorted(edits)
    limits = [*(edit.start for edit in ordered[1:]), len(document.data)]
    return tuple(extend(edit, limit) for edit, limit in zip(ordered, limits, strict=False))


async def remove_unused_code(request: RepairRequest) -> list[Repair]:
    """Return repairs that remove the unused code of the finding. Code that may have an effect stays."""
    finding, subject, tree = request.finding, request.subject, request.tree
    if subject.kind != "removal":
        return []
    report = f"{finding.message} {finding.code}"
    if MUTABLE_MESSAGE.search(report):
        keyword = MUT_KEYWORD.search(tree.data, max(0, subject.span.start - 8), subject.span.end + 1)
        return [Repair(KIND, (Edit(*keyword.span(), b""),), 0.0)] if keyword else []
    if UNREACHABLE_MESSAGE.search(report) or finding.code in ("7027", "CS0162", "W0101"):
        removals = remove_unreachable(tree, subject.span)
    else:
        # The file uses only the last part of a path like `a.b` or `a::b`.
        last_parts = [re.split(r"[.\\/]|::", path)[-1] for path in DOTTED_NAME.findall(finding.message)]
        names = [*filter(None, (subject.name, *subject.quoted, *last_parts))]
        removals = remove_unused_import(tree, subject.span, names)
        removals = removals or (remove_unused_variable(tree, subject.span, subject.name) if subject.name else [])
    return [Repair(KIND, remove_blank_start(tree.document, removal.edits), removal.cost) for removal in removals]
