"""Statements as whole lines, and parts of lists: what is left when they are taken away."""

import re

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)*")
BLANK_LINES_ABOVE = re.compile(rb"(?:(?<=\n)|\A)(?:[ \t]*\r?\n)*\Z")
BODY_NODES = frozenset({"block", "then", "body_statement"})


def remove_statements(tree: SyntaxTree, first: Node, last: Node | None = None) -> tuple[Edit, ...]:
    """The edit that takes away statements, with their lines where nothing else stands on these.

    Of the blank lines above and below, no more are left than the larger of the two gaps had. A block of Python that would be
    empty gets a `pass`.
    """
    last = last or first
    data, start, end = tree.data, first.start_byte, last.end_byte
    while end > start and data[end - 1 : end].isspace():
        end -= 1
    if data[end : end + 1] == b";":
        end += 1
    if tree.language.id == "python" and _is_alone(first, last):
        return (Edit(start, end, b"pass"),)
    line = data.rfind(b"\n", 0, start) + 1
    rest = re.compile(rb"[ \t]*(?:\r?\n|\Z)").match(data, end)
    if data[line:start].strip():
        # something else is on its first line
        begin = start - (len(data[line:start]) - len(data[line:start].rstrip(b" \t"))) if rest else start
        return (Edit(begin, end, b""),)
    if not rest:
        follows = re.compile(rb"[ \t]*").match(data, end)
        return (Edit(start, follows.end() if follows else end, b""),)
    end = rest.end()
    below = BLANK_LINES.match(data, end)
    gap_below = below[0].count(b"\n") if below else 0
    above = BLANK_LINES_ABOVE.search(data, max(0, line - 200), line)
    gap_above = above[0].count(b"\n") if above else 0
    if below and (line == 0 or gap_above) and gap_below:
        taken = gap_below if line == 0 else min(gap_above, gap_below)
        lines = below[0].splitlines(keepends=True)[:taken]
        end += sum(map(len, lines))
    return (Edit(line, end, encode("")),)


def remove_list_item(tree: SyntaxTree, one: Node) -> Edit:
    """A part of a list with the comma behind it, or else the one before it; its line where it is alone there."""
    data, start, end = tree.data, one.start_byte, one.end_byte
    behind = re.compile(rb"\s*,").match(data, end)
    if behind:
        end = behind.end()
        line = data.rfind(b"\n", 0, start) + 1
        rest = re.compile(rb"[ \t]*\r?\n").match(data, end)
        if rest and not data[line:start].strip():
            return Edit(line, rest.end(), b"")
        blanks = re.compile(rb"[ \t]*").match(data, end)
        return Edit(start, blanks.end() if blanks else end, b"")
    before = re.compile(rb",\s*\Z").search(data, max(0, start - 200), start)
    return Edit(before.start() if before else start, end, b"")


def _is_alone(first: Node, last: Node) -> bool:
    """Whether nothing else is in the block."""
    block = first.parent
    if block is None or block.type not in BODY_NODES:
        return False
    inside = [one for one in block.named_children if not one.is_extra]
    return bool(inside) and inside[0] == first and inside[-1] == last
