"""Does inserting a text add a syntax error? The gate for completions, which may well stop in the middle.

A text that only lacks something at its end is not wrong: `for x in range(` is what a person would have typed by then.
So the parser is asked about ways to go on, and only if none of them makes the error go away the insertion is to blame.
"""

from tree_sitter import Node

from lsp_harness.syntax.code_tails import complete_tail
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.syntax_errors import new_tree_faults, python_fault
from lsp_harness.syntax.tree import SyntaxTree, within
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

WINDOW = 2_000
"""How far back an unclosed bracket is looked for in a text that had errors already; in bytes."""
COMPILED = 50_000
"""Bytes of a statement that the compiler is asked about: it takes a second for a megabyte, and cannot be interrupted."""
OUTER = 3
"""How many brackets that were open before are closed, one more at a time."""


def adds_error(
    before: SyntaxTree, after: SyntaxTree, span: tuple[int, int], allowance: Allowance | None = None
) -> bool:
    """Whether `after`, which is `before` with the text of `span` inserted (or put in place of something), has a syntax
    error that nothing typed after `span` could undo and `before` does not have. Raises TooCostly where that takes more than the
    allowance, by default that of a text."""
    allowance = allowance or Allowance(BUDGET.text_s)
    start, end = span
    edit = Edit(start, len(before.data) - (len(after.data) - end), after.data[start:end])
    if _sound(before, after, edit):
        return False
    broken = before.root.has_error
    first = max(0, start - WINDOW) if broken else start
    line = after.data.rfind(b"\n", 0, first) + 1
    text = decode(after.data[line:end])
    since = len(decode(after.data[line:start]))
    stop = after.data.find(b"\n", end)
    # A closing bracket may follow whatever is typed next.
    below = after.data[stop:].lstrip(b"\r\n") if stop >= 0 else b""
    last = after.data[after.data.rfind(b"\n", 0, end) + 1 : end]
    has_body = len(below) - len(below.lstrip()) > len(last) - len(last.lstrip())
    within_line = bool(after.data[end : stop if stop >= 0 else None].strip(b" \t\r)]},;:"))
    offset, small = _excerpt(before, edit, allowance)
    for outer in range(OUTER + 1) if broken else (None,):
        for tail in complete_tail(
            text, after.language, since=since, outer=outer, within_line=within_line, has_body=has_body
        ):
            allowance.check()
            more = encode(tail)
            if small and (part := small.splice(_shifted(edit, more, offset), allowance)) and part.root.has_error:
                continue
            whole = after.splice(Edit(end, end, more), allowance)
            if whole and _sound(before, whole, edit._replace(new=edit.new + more)):
                return False
    return True


def _sound(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    if new_tree_faults(before, after, [edit], thorough=False):
        return False
    return after.language.id != "python" or _compiles(before, after, edit)


def _shifted(edit: Edit, more: bytes, offset: int) -> Edit:
    return Edit(edit.start + offset, edit.end + offset, edit.new + more)


def _excerpt(before: SyntaxTree, edit: Edit, allowance: Allowance) -> tuple[int, SyntaxTree | None]:
    """The statements around an edit as a text of their own, and by how much offsets differ in it. What makes no sense
    there makes none in the whole text, which costs ten times as much to ask. None where it would not be smaller."""
    opening, start, end = _statements(before, edit.start, edit.end)
    if 2 * (end - start) > len(before.data):
        return 0, None
    document = before.document
    part = within(
        Document.from_text(document.uri, opening + before.data[start:end], language=document.language), allowance
    )
    return len(opening) - start, part if part and not part.root.has_error else None


def _compiles(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    """The compiler's view of indentation, which the grammar forgives. Only the statements of the module or class that
    the edit is in are compiled, and what did not compile before (with something in place of the edit) is let through.
    """
    opening, start, end = _statements(after, edit.start, edit.start + len(edit.new))
    if end - start > COMPILED or python_fault(opening + after.data[start:end]) is None:
        return True
    left = opening + before.data[start : edit.start]
    right = before.data[edit.end : end - len(after.data) + len(before.data)]
    return not any(python_fault(left + filler + right) is None for filler in (b"", b"pass", b"x"))


def _statements(tree: SyntaxTree, start: int, end: int) -> tuple[bytes, int, int]:
    """The statements a range touches, of the file or, in Python, of a class: what has to stand before them, and where
    they start and end."""
    block = _class_body(tree.root, start, end) if tree.language.id == "python" else tree.root
    # Not `Point.column`: in tree-sitter 0.26.0 `row` and `column` give away a reference they do not own, which crashes.
    column = block.start_point[1] if block.parent else 0
    tops = [n.start_byte - column for n in block.children if not n.is_extra and n.start_point[1] == column]
    first = max((at for at in tops if at <= start), default=block.start_byte - column if column else 0)
    last = min((at for at in tops if at > end), default=block.end_byte if column else len(tree.data))
    # A block of a class is as good a block of anything.
    return (b"if x:\n" if column else b""), first, last


def _class_body(module: Node, start: int, end: int) -> Node:
    """The innermost class body around a range that is not in a function; the module where there is none."""
    body, node = module, module
    while node := next((n for n in node.children if n.start_byte <= start and end <= n.end_byte), None):
        if node.type == "function_definition":
            break
        if node.type == "block" and node.parent and node.parent.type == "class_definition":
            body = node
    return body
