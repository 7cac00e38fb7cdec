"""Edits that remove statements with their lines, and items with their commas."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

STATEMENT_COST = 0.1
"""The cost of the removal of a statement."""
NAME_COST = 0.15
"""The cost of the removal of one of several names."""
KEEP_VALUE_COST = 0.2
"""The cost of the removal of a variable whose value stays as a statement."""
PREFIX_COST = 0.9
"""The cost of an underscore before a name, which keeps the name."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Edits that remove unused code.

    A removal with a lower cost is preferred.
    """

    edits: tuple[Edit, ...]
    cost: float


def descendants(node: Node, excluded_types: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Yield the named nodes below a node, without those of the excluded types and the nodes below these."""
    stack = [*node.named_children]
    while stack:
        child = stack.pop()
        if child.type in excluded_types:
            continue
        yield child
        stack += child.named_children


BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)*")
BLANK_LINES_ABOVE = re.compile(rb"(?:(?<=\n)|\A)(?:[ \t]*\r?\n)*\Z")
BODY_NODES = frozenset({"block", "then", "body_statement"})


def remove_statements(tree: SyntaxTree, first: Node, last: Node | None = None) -> tuple[Edit, ...]:
    """Return the edit that removes adjacent statements, with their lines if nothing else is on them.

    If there are blank lines above and below, the larger of the two gaps remains. A Python block that would become empty
    gets a `pass`.

    Args:
        tree: The tree of the text.
        first: The first statement to remove.
        last: The last statement to remove, by default the first.
    """
    last = last or first
    data, start, end = tree.data, first.start_byte, last.end_byte
    while end > start and data[end - 1 : end].isspace():
        end -= 1
    if data[end : end + 1] == b";":
        end += 1
    if tree.language.empty_block and _is_whole_block(first, last):
        return (Edit(start, end, encode(tree.language.empty_block)),)
    line_start = data.rfind(b"\n", 0, start) + 1
    line_rest = re.compile(rb"[ \t]*(?:\r?\n|\Z)").match(data, end)
    before = data[line_start:start]
    if before.strip():
        # Other code precedes it on the first line.
        edit_start = start - (len(before) - len(before.rstrip(b" \t"))) if line_rest else start
        return (Edit(edit_start, end, b""),)
    if not line_rest:
        blanks = re.compile(rb"[ \t]*").match(data, end)
        return (Edit(start, blanks.end() if blanks else end, b""),)
    end = line_rest.end()
    below = BLANK_LINES.match(data, end)
    gap_below = below[0].count(b"\n") if below else 0
    above = BLANK_LINES_ABOVE.search(data, max(0, line_start - 200), line_start)
    gap_above = above[0].count(b"\n") if above else 0
    if below and (line_start == 0 or gap_above) and gap_below:
        removed_count = gap_below if line_start == 0 else min(gap_above, gap_below)
        end += sum(map(len, below[0].splitlines(keepends=True)[:removed_count]))
    return (Edit(line_start, end, b""),)


def remove_list_item(tree: SyntaxTree, item: Node) -> Edit:
    """Return the edit that removes an item of a list with the comma behind it, or else the comma before it.

    The whole line is removed if the item is alone on it.
    """
    data, start, end = tree.data, item.start_byte, item.end_byte
    comma = re.compile(rb"\s*,").match(data, end)
    if comma:
        end = comma.end()
        line_start = data.rfind(b"\n", 0, start) + 1
        line_rest = re.compile(rb"[ \t]*\r?\n").match(data, end)
        if line_rest and not data[line_start:start].strip():
            return Edit(line_start, line_rest.end(), b"")
        blanks = re.compile(rb"[ \t]*").match(data, end)
        return Edit(start, blanks.end() if blanks else end, b"")
    comma_before = re.compile(rb",\s*\Z").search(data, max(0, start - 200), start)
    return Edit(comma_before.start() if comma_before else start, end, b"")


def _is_whole_block(first: Node, last: Node) -> bool:
    """Return whether the statements from `first` to `last` are the whole content of their block."""
    block = first.parent
    if block is None or block.type not in BODY_NODES:
        return False
    statements = [child for child in block.named_children if not child.is_extra]
    return bool(statements) and statements[0] == first and statements[-1] == last
