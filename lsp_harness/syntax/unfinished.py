"""Does inserting a text add a syntax error? The gate for completions, which may well stop in the middle.

A text that only lacks something at its end is not wrong: `for x in range(` is what a person would have typed by then.
So the parser is asked about ways to go on, and only if none of them makes the error go away the insertion is to blame.
"""

from tree_sitter import Node

from lsp_harness.syntax.faults import new_tree_faults, python_fault
from lsp_harness.syntax.tails import complete_tail
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode

WINDOW = 2_000
"""How far back an unclosed bracket is looked for in a text that had errors already; in bytes."""
OUTER = 3
"""How many brackets that were open before are closed, one more at a time."""


def adds_error(before: SyntaxTree, after: SyntaxTree, span: tuple[int, int]) -> bool:
    """Whether `after`, which is `before` with the text of `span` inserted (or put in place of something), has a syntax
    error that nothing typed after `span` could undo and `before` does not have."""
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
    within_line = bool(after.data[end : stop if stop >= 0 else None].strip(b" \t\r)]},;:"))
    for outer in range(OUTER + 1) if broken else (None,):
        for tail in complete_tail(text, after.language, since=since, outer=outer, within_line=within_line):
            more = tail.encode()
            whole = after.spliced(Edit(end, end, more))
            if whole and _sound(before, whole, edit._replace(new=edit.new + more)):
                return False
    return True


def _sound(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    if new_tree_faults(before, after, [edit], thorough=False):
        return False
    return after.language.id != "python" or _compiles(before, after, edit)


def _compiles(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    """The compiler's view of indentation, which the grammar forgives. Only the statements of the module or class that
    the edit is in are compiled, and what did not compile before (with something in place of the edit) is let through.
    """
    data, stop = after.data, edit.start + len(edit.new)
    block = _class_body(after.root, edit.start, stop)
    # Not `Point.column`: in tree-sitter 0.26.0 `row` and `column` give away a reference they do not own, which crashes.
    column = block.start_point[1] if block.parent else 0
    tops = [n.start_byte - column for n in block.children if not n.is_extra and n.start_point[1] == column]
    start = max((at for at in tops if at <= edit.start), default=block.start_byte - column if column else 0)
    end = min((at for at in tops if at > stop), default=block.end_byte if column else len(data))
    # A block of a class is as good a block of anything.
    opening = b"if x:\n" if column else b""
    if python_fault(opening + data[start:end]) is None:
        return True
    left = opening + before.data[start : edit.start]
    right = before.data[edit.end : end - len(data) + len(before.data)]
    return not any(python_fault(left + filler + right) is None for filler in (b"", b"pass", b"x"))


def _class_body(module: Node, start: int, end: int) -> Node:
    """The innermost class body around a range that is not in a function; the module where there is none."""
    body, node = module, module
    while node := next((n for n in node.children if n.start_byte <= start and end <= n.end_byte), None):
        if node.type == "function_definition":
            break
        if node.type == "block" and node.parent and node.parent.type == "class_definition":
            body = node
    return body
