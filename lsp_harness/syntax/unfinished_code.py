"""A check whether inserting a text adds a syntax error.

It gates completions, which may stop in the middle of a statement.

A text that only lacks something at its end is not wrong: a person might have typed just `for x in range(` so far. So
the parser is asked about possible continuations, and the insertion is rejected only if the error remains with each of
them.
"""

from tree_sitter import Node

from lsp_harness.syntax.code_tails import generate_tails
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.syntax_errors import find_new_tree_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, parse_within
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

LOOKBACK_BYTES = 2_000
"""How far before the insertion an unclosed bracket is searched for, if the text had errors already."""
MAX_COMPILED_BYTES = 50_000
"""Longer statements are not compiled: the compiler takes a second for a megabyte and cannot be interrupted."""
MAX_OUTER_BRACKETS = 3
"""How many brackets that were open before the insertion may be closed. The number is raised by one at a time."""


def adds_error(
    before: SyntaxTree, after: SyntaxTree, span: tuple[int, int], allowance: Allowance | None = None
) -> bool:
    """Return whether an insertion adds a syntax error that no text typed behind it could remove.

    Args:
        before: The tree before the insertion.
        after: The tree after it. The insertion may also replace some text.
        span: Start and end of the inserted text in `after`, in bytes.
        allowance: The processor time for all parses, by default that of one text.

    Raises:
        ParseBudgetExceeded: The check takes longer than the allowance.
    """
    allowance = allowance or Allowance(BUDGET.text_s)
    start, end = span
    edit = Edit(start, len(before.data) - (len(after.data) - end), after.data[start:end])
    if _is_sound(before, after, edit):
        return False
    had_errors = before.root.has_error
    first = max(0, start - LOOKBACK_BYTES) if had_errors else start
    line_start = after.data.rfind(b"\n", 0, first) + 1
    text = decode(after.data[line_start:end])
    new_start = len(decode(after.data[line_start:start]))
    line_end = after.data.find(b"\n", end)
    # A closing bracket may follow anything that is typed next.
    below = after.data[line_end:].lstrip(b"\r\n") if line_end >= 0 else b""
    last_line = after.data[after.data.rfind(b"\n", 0, end) + 1 : end]
    has_body = len(below) - len(below.lstrip()) > len(last_line) - len(last_line.lstrip())
    line_continues = bool(after.data[end : line_end if line_end >= 0 else None].strip(b" \t\r)]},;:"))
    offset, excerpt = _excerpt(before, edit, allowance)
    for outer_brackets in range(MAX_OUTER_BRACKETS + 1) if had_errors else (None,):
        tails = generate_tails(
            text,
            after.language,
            new_start=new_start,
            outer_brackets=outer_brackets,
            line_continues=line_continues,
            has_body=has_body,
        )
        for tail in tails:
            allowance.check()
            tail_bytes = encode(tail)
            if excerpt:
                part = excerpt.apply_edit(_shift_edit(edit, tail_bytes, offset), allowance)
                if part and part.root.has_error:
                    continue
            whole = after.apply_edit(Edit(end, end, tail_bytes), allowance)
            if whole and _is_sound(before, whole, edit._replace(new=edit.new + tail_bytes)):
                return False
    return True


def _is_sound(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    if find_new_tree_faults(before, after, [edit], thorough=False):
        return False
    return not after.language.compiles_in_process or _compiles(before, after, edit)


def _shift_edit(edit: Edit, tail: bytes, offset: int) -> Edit:
    return Edit(edit.start + offset, edit.end + offset, edit.new + tail)


def _excerpt(before: SyntaxTree, edit: Edit, allowance: Allowance) -> tuple[int, SyntaxTree | None]:
    """Return the statements around an edit as a separate text, and the shift from document offsets to its offsets.

    A tail that fails in the excerpt also fails in the whole text, where the parse costs ten times as much. The excerpt
    is None if it would not be much smaller than the text, or has errors itself.
    """
    opening, start, end = _statements_around(before, edit.start, edit.end)
    if 2 * (end - start) > len(before.data):
        return 0, None
    document = before.document
    text = opening + before.data[start:end]
    part = parse_within(Document.from_text(document.uri, text, language=document.language), allowance)
    return len(opening) - start, part if part and not part.root.has_error else None


def _compiles(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    """Return whether the Python compiler accepts the edit: it checks the indentation, which the grammar does not.

    Only the statements around the edit are compiled, those of the module or the innermost class. The edit is accepted
    if they did not compile before either, with a placeholder instead of the edit.
    """
    opening, start, end = _statements_around(after, edit.start, edit.start + len(edit.new))
    if end - start > MAX_COMPILED_BYTES or find_python_fault(opening + after.data[start:end]) is None:
        return True
    left = opening + before.data[start : edit.start]
    right = before.data[edit.end : end - len(after.data) + len(before.data)]
    return not any(find_python_fault(left + filler + right) is None for filler in (b"", b"pass", b"x"))


def _statements_around(tree: SyntaxTree, start: int, end: int) -> tuple[bytes, int, int]:
    """Return the statements of the file, or in Python of a class, that a range touches.

    Returns:
        The text that must stand before them to make them valid on their own, and their start and end in bytes.
    """
    block = _class_body(tree.root, start, end) if tree.language.block == "indent" else tree.root
    # `Point.column` is not used: in tree-sitter 0.26.0 `row` and `column` release a reference that they do not own,
    # which crashes.
    column = block.start_point[1] if block.parent else 0
    starts = [n.start_byte - column for n in block.children if not n.is_extra and n.start_point[1] == column]
    first = max((at for at in starts if at <= start), default=block.start_byte - column if column else 0)
    last = min((at for at in starts if at > end), default=block.end_byte if column else len(tree.data))
    # The body of a class compiles as the body of any other block.
    return (b"if x:\n" if column else b""), first, last


def _class_body(module: Node, start: int, end: int) -> Node:
    """Return the innermost class body around a range that is outside of functions, or else the module."""
    body, node = module, module
    while node := next((n for n in node.children if n.start_byte <= start and end <= n.end_byte), None):
        if node.type == "function_definition":
            break
        if node.type == "block" and node.parent and node.parent.type == "class_definition":
            body = node
    return body
