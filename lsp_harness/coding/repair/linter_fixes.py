"""Repairs that a linter knows: its own fixes, the code in its message, and the removal of what nothing uses.

A message such as "Use `a in (b, c)` instead of multiple comparisons" has the code that needs no model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lsp_harness.coding.repair.import_forms import NewImport, make_import_edit
from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.knowledge.python_stdlib import is_module
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.removal.unused_code import remove_unreachable, remove_unused_variable
from lsp_harness.syntax.removal.unused_imports import remove_unused_import
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.checks import RULE_CODE, is_python
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_replaced_code, find_suggestions
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed, RuffReport

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
        return [Repair("removal", (Edit(*keyword.span(), b""),), 0.0)] if keyword else []
    if UNREACHABLE_MESSAGE.search(report) or finding.code in ("7027", "CS0162", "W0101"):
        removals = remove_unreachable(tree, subject.span)
    else:
        # The file uses only the last part of a path like `a.b` or `a::b`.
        last_parts = [re.split(r"[.\\/]|::", path)[-1] for path in DOTTED_NAME.findall(finding.message)]
        names = [*filter(None, (subject.name, *subject.quoted, *last_parts))]
        removals = remove_unused_import(tree, subject.span, names)
        removals = removals or (remove_unused_variable(tree, subject.span, subject.name) if subject.name else [])
    return [Repair("removal", remove_blank_start(tree.document, removal.edits), removal.cost) for removal in removals]


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


COST, WHOLE_RANGE_COST = 0.3, 0.7
"""Costs of a suggested replacement. A message likelier quotes the exact code to replace than it means the whole range.
"""
MAX_RANGE_BYTES = 2_000
MODULE = re.compile(r"(\w+)\.\w")


async def replace_by_suggestion(request: RepairRequest) -> list[Repair]:
    """Return the replacements of the quoted code, or of the whole range of the finding, by each suggestion."""
    whole = Span(*request.subject.reported)
    if whole.start == whole.end or whole.end - whole.start > MAX_RANGE_BYTES:
        return []
    repairs: list[Repair] = []
    for code in find_suggestions(request.finding.message):
        imports = tuple(_find_import(request.tree, code))
        spans = [(span, COST) for span in _find_quoted(request)] + [(whole, WHOLE_RANGE_COST)]
        repairs += [Repair("suggested code", (*imports, Edit(*span, encode(code))), cost) for span, cost in spans]
    return repairs


def _find_quoted(request: RepairRequest) -> Iterator[Span]:
    """Yield the place of the code that the message wants to be replaced, if the range of the finding has it once."""
    start, end = request.subject.reported
    text = decode(request.tree.data[start:end])
    for code in find_replaced_code(request.finding.message):
        # the name of a call or of an object does not stand for the whole expression
        places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(code)}(?![\w(.\[])", text)]
        if len(places) == 1:
            offset = start + len(encode(text[: places[0]]))
            yield Span(offset, offset + len(encode(code)))


def _find_import(tree: SyntaxTree, code: str) -> Iterator[Edit]:
    """Yield the edit that imports the module of a suggestion such as `operator.itemgetter(1)`, if it is missing."""
    module = MODULE.match(code)
    if module is None or not tree.language.imports.reads_interpreter_library or not is_module(module[1]):
        return
    if any(use.is_binding for use in find_occurrences(tree, module[1])):
        return
    if edit := make_import_edit(tree, NewImport(module[1])):
        yield edit
