"""All sources of repairs without a model: the error cache, and others by the kind of the finding's subject.

The smallest sources are written here: a wrong token, a declaration without its sign, and a string without its mark.
"""

import asyncio
import re
from collections.abc import Mapping

from lsp_harness.coding.repair.argument_swap import swap_arguments
from lsp_harness.coding.repair.block_indentation import indent_block
from lsp_harness.coding.repair.learned_repairs import apply_learned_fixes
from lsp_harness.coding.repair.linter_fixes import remove_unused_code, replace_by_suggestion
from lsp_harness.coding.repair.missing_imports import find_missing_imports
from lsp_harness.coding.repair.repair import Repair, RepairRequest, RepairSource
from lsp_harness.coding.repair.similar_names import add_receiver, add_sigil, find_similar_names
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.recovery.recovery import Recovery, TrialLimits, find_recoveries
from lsp_harness.syntax.tree import nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.finding_subject import SubjectKind

INTERPOLATION_REPORT = re.compile(
    r"no-template-curly-in-string|W1311|RUF027|\bf[- ]?(?:string\b|prefix)|template (?:literal|string)", re.IGNORECASE
)
"""The codes and messages of linters for such a string."""
SCRIPT_PLACEHOLDER = re.compile(rb"\$\{[^{}]+\}")
PYTHON_PLACEHOLDER = re.compile(rb"(?<!\{)\{[^\W\d][^{}]*\}(?!\})")


async def fix_interpolation(request: RepairRequest) -> list[Repair]:
    """Add `f` before the string of the finding in Python, or put it in backticks in JavaScript and TypeScript."""
    finding, tree = request.finding, request.tree
    if not INTERPOLATION_REPORT.search(f"{finding.code} {finding.message}"):
        return []
    nodes = nodes_around(tree.root, finding.start, max(finding.start + 1, min(finding.end, finding.start + 2)))
    node = next((node for node in nodes if node.type == "string"), None)
    if node is None:
        return []
    text = tree.data[node.start_byte : node.end_byte]
    mark = tree.language.tokens.interpolation_mark
    if mark.isalpha() and text[:1] in b"'\"" and PYTHON_PLACEHOLDER.search(text):
        return [Repair("interpolation", (Edit(node.start_byte, node.start_byte, encode(mark)),), 0.1)]
    if mark and not mark.isalpha() and SCRIPT_PLACEHOLDER.search(text) and encode(mark) not in text and len(text) > 2:
        quotes = (node.start_byte, node.end_byte - 1)
        return [Repair("interpolation", tuple(Edit(quote, quote + 1, encode(mark)) for quote in quotes), 0.1)]
    return []


DECLARATION_COST = 0.5
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
        [
            Repair(
                "declaration",
                (Edit(*assignment.span(1), encode(tree.language.names.declaring_sign)),),
                DECLARATION_COST,
            )
        ]
        if any(later_uses)
        else []
    )


MAX_REPAIRS = 6
"""Maximum number of repairs of one finding. Further ones are less likely to be correct than the text of a model."""
KINDS: Mapping[str, str] = {"insert": "missing token", "delete": "extra token", "replace": "wrong token"}
"""The kind that the user reads, by the action of the edit."""


async def repair_tokens(request: RepairRequest, limits: TrialLimits | None = None) -> list[Repair]:
    """Return repairs of a syntax error that change one token, the most likely first.

    Args:
        request: The finding and its text.
        limits: Limits of the trials. None uses the default limits.
    """
    subject = request.subject
    if subject.kind != "syntax":
        return []
    # One trial takes milliseconds, but some hundred trials would delay other requests.
    recoveries = await asyncio.to_thread(find_recoveries, request.tree, subject.span.start, subject.span.end, limits)
    return [Repair(_recovery_kind(recovery), (recovery.edit,), recovery.cost) for recovery in recoveries[:MAX_REPAIRS]]


def _recovery_kind(recovery: Recovery) -> str:
    return "indentation" if recovery.token == "indentation" else KINDS[recovery.action]


SOURCES_BY_KIND: Mapping[SubjectKind, tuple[RepairSource, ...]] = {
    "syntax": (repair_tokens, indent_block),
    "name": (find_similar_names, find_missing_imports, add_sigil, add_receiver, declare_name),
    "removal": (remove_unused_code,),
    "argument": (swap_arguments,),
    "rule": (fix_interpolation, replace_by_suggestion),
}


async def find_repairs(request: RepairRequest, limit: int) -> list[Repair]:
    """Return at most `limit` different repairs of a finding, the most likely first."""
    repairs_by_edits: dict[tuple[object, ...], Repair] = {}
    for source in (apply_learned_fixes, *SOURCES_BY_KIND.get(request.subject.kind, ())):
        for repair in await source(request):
            previous = repairs_by_edits.get(repair.edits)
            if previous is None or repair.cost < previous.cost:
                repairs_by_edits[repair.edits] = repair
    return sorted(repairs_by_edits.values(), key=lambda repair: repair.cost)[:limit]
