"""Where an offset is: the function and class around it, the statement a range belongs to, and the imports.

Which nodes these are is said by each language's `scopes.scm`; this file only chooses among them.
"""

from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.position import Span, decode

BLANK_CHARS = b" \t\r\n\f"
# Deep enough for an import in a `try`, or under `if TYPE_CHECKING`.
MAX_IMPORT_DEPTH = 4
# Nodes beside, not in, the definition they belong to.
ATTACHED_NODES = frozenset({"attribute_item", "decorator"})


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class. `body_start` is where its body begins (`end` if it has none)."""

    kind: Literal["function", "class"]
    name: str
    start: int
    end: int
    body_start: int


def enclosing_function(tree: SyntaxTree, offset: int) -> Scope | None:
    """The innermost function around an offset; None at the top level. One-line functions without a name do not count."""
    return _find_scope(tree, offset, "function")


def enclosing_class(tree: SyntaxTree, offset: int) -> Scope | None:
    """The innermost class (struct, trait, interface, impl, module …) around an offset."""
    return _find_scope(tree, offset, "class")


def function_text_span(tree: SyntaxTree, offset: int) -> Span | None:
    """The function around an offset as a person would copy it: whole lines where it stands alone on them, with its
    decorators, attributes and the comment right above it."""
    node = _innermost_node(tree, offset, "function")
    if node is None:
        return None
    found = captures(tree.language, "scopes", tree.root, (node.start_byte, node.start_byte + 1))
    wrappers = {n.id for n in found.get("wrapper", [])}
    top = node
    while (parent := top.parent) and parent.id in wrappers:
        top = parent
    start = _attached_start(tree, top)
    indent = tree.data.rfind(b"\n", 0, start) + 1
    return Span(indent if not tree.data[indent:start].strip() else start, max(top.end_byte, node.end_byte))


def statement_at(tree: SyntaxTree, start: int, end: int) -> Span | None:
    """The smallest statement around a range; of a compound statement only its header if the range is in there.

    Where the parser gave up, the lines of the range stand for the statement. None if there is only blank space.
    """
    start, end = _trim_range(tree.data, start, end)
    if start == end:
        return None
    found = captures(tree.language, "scopes", tree.root, (start, max(end, start + 1)))
    candidates = [
        n for n in found.get("statement", []) if n.start_byte <= start and n.end_byte >= end and not n.is_extra
    ]
    node = min(candidates, key=lambda n: n.end_byte - n.start_byte, default=None)
    broken = _error_node_around(tree.root, start, end)
    if node is None or node.is_error or (broken and _contains(broken, node)):
        return _line_span(tree.data, start, end)
    return Span(
        node.start_byte, _header_end(tree, node, end) or _trimmed_end(tree.data, node.start_byte, node.end_byte)
    )


def find_imports(tree: SyntaxTree) -> list[Span]:
    """The import statements of the file, in source order; not those inside of functions."""
    nodes = captures(tree.language, "outline", tree.root, depth=MAX_IMPORT_DEPTH).get("import", [])
    return sorted({Span(n.start_byte, _trimmed_end(tree.data, n.start_byte, n.end_byte)) for n in nodes})


def _find_scope(tree: SyntaxTree, offset: int, kind: Literal["function", "class"]) -> Scope | None:
    node = _innermost_node(tree, offset, kind)
    if node is None:
        return None
    body = node.child_by_field_name("body")
    body_start = body.start_byte if body else node.end_byte
    return Scope(kind, _name(node), node.start_byte, node.end_byte, body_start)


def _innermost_node(tree: SyntaxTree, offset: int, kind: str) -> Node | None:
    data = tree.data
    at, column = offset, 0
    if tree.language.block == "indent":
        at, column = _find_anchor(data, offset, tree.language.comment.encode())
    nodes = captures(tree.language, "scopes", tree.root, (min(at, offset), max(at, offset) + 1)).get(kind, [])
    inside = [
        n
        for n in nodes
        if n.start_byte <= offset < n.end_byte or (n.start_byte <= at < n.end_byte and _column(data, n) < column)
    ]
    # `x => x.y` is part of an expression, not a place to be in.
    inside = [n for n in inside if b"\n" in data[n.start_byte : n.end_byte] or _name(n)]
    return min(inside, key=lambda n: n.end_byte - n.start_byte, default=None)


def _find_anchor(data: bytes, offset: int, comment: bytes) -> tuple[int, int]:
    """For languages that nest by indentation: where to look instead of at `offset`, and how far in the cursor is.

    That is the start of the line's text. On a line with nothing but a comment it is the start of the last line above
    that has more: a block may go on there, if the cursor is further in than what the block belongs to.
    """
    line = data.rfind(b"\n", 0, offset) + 1
    stop = data.find(b"\n", offset)
    text = data[line : stop if stop >= 0 else len(data)]
    column = indent_width(text) if text.strip() else len(data[line:offset].expandtabs(8))
    while line > 0 and _is_blank(text, comment):
        stop = line - 1
        line = data.rfind(b"\n", 0, stop) + 1
        text = data[line:stop]
    # A line of code is in what it is in, however it is indented.
    found_above = line + len(text) < offset
    return line + len(text) - len(text.lstrip()), column if found_above else 1 << 30


def _is_blank(line: bytes, comment: bytes) -> bool:
    text = line.strip()
    return not text or text.startswith(comment)


def indent_width(line: bytes) -> int:
    """Columns that a line is further in."""
    text = line.expandtabs(8)
    return len(text) - len(text.lstrip())


def _column(data: bytes, node: Node) -> int:
    return indent_width(data[data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte] + b".")


def _name(node: Node) -> str:
    """The name of a definition, or what an anonymous one is assigned to."""
    named = _first_field(node, "name", "declarator", "type")
    parent = node.parent
    if named is None and parent and node in (parent.child_by_field_name("value"), parent.child_by_field_name("right")):
        named = _first_field(parent, "name", "left", "pattern", "key", "property")
    while named and (inner := named.child_by_field_name("declarator")):
        named = inner
    text = decode(named.text or b"") if named else ""
    # the declarator of a C++ lambda is its parameters
    return "" if text.startswith("(") else text


def _first_field(node: Node, *names: str) -> Node | None:
    return next((found for name in names if (found := node.child_by_field_name(name))), None)


def _attached_start(tree: SyntaxTree, node: Node) -> int:
    """Where the comments and attributes start that stand on the lines right above a node."""
    start = node.start_byte
    above = node.prev_sibling
    if above is None and node.parent and node.parent.start_byte == start:
        # In Python a comment at the top of a block is outside of it.
        above = node.parent.prev_sibling
    while above and (above.is_extra or above.type in ATTACHED_NODES):
        # some grammars count the line's end as part of a comment
        end = _trimmed_end(tree.data, above.start_byte, above.end_byte)
        alone = not tree.data[tree.data.rfind(b"\n", 0, above.start_byte) + 1 : above.start_byte].strip()
        if not alone or tree.data.count(b"\n", end, start) > 1:
            break
        start = above.start_byte
        above = above.prev_sibling
    return start


def _header_end(tree: SyntaxTree, node: Node, end: int) -> int | None:
    """Where the header of a compound statement ends, if `end` is in it and its block goes over several lines."""
    found = captures(tree.language, "scopes", node, (node.start_byte, node.end_byte)).get("block", [])
    inside = [b for b in found if b.id != node.id and b.start_byte >= node.start_byte and b.end_byte <= node.end_byte]
    block = min(inside, key=lambda b: b.start_byte, default=None)
    if block is None:
        return None
    # `{` or `do` opens the block and ends the header.
    opener = block.child(0)
    stop = opener.end_byte if opener and not opener.is_named else _end_of_previous_token(block)
    return stop if end <= stop and b"\n" in tree.data[stop : node.end_byte] else None


def _end_of_previous_token(block: Node) -> int:
    """The end of the token before a block, comments left aside."""
    above = block.prev_sibling
    while above and above.is_extra:
        above = above.prev_sibling
    return above.end_byte if above else block.start_byte


def _error_node_around(root: Node, start: int, end: int) -> Node | None:
    return next((node for node in nodes_around(root, start, end) if node.is_error), None)


def _contains(inner: Node, outer: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _trim_range(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A range without the blank around it; an empty one becomes the character before it on the line, or after it."""
    start, end = max(0, min(start, len(data))), max(0, min(end, len(data)))
    text = data[start:end]
    if text.strip(BLANK_CHARS):
        return start + len(text) - len(text.lstrip(BLANK_CHARS)), end - (len(text) - len(text.rstrip(BLANK_CHARS)))
    line = data.rfind(b"\n", 0, start) + 1
    left = data[line:start].rstrip(BLANK_CHARS)
    if left:
        return line + len(left) - 1, line + len(left)
    stop = data.find(b"\n", start)
    right = data[start : stop if stop >= 0 else len(data)]
    first = start + len(right) - len(right.lstrip(BLANK_CHARS))
    return (first, first + 1) if right.strip(BLANK_CHARS) else (start, start)


def _line_span(data: bytes, start: int, end: int) -> Span:
    """The whole lines of a range, without indentation and terminator."""
    first = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", end)
    text = data[first : stop if stop >= 0 else len(data)]
    return Span(first + len(text) - len(text.lstrip(BLANK_CHARS)), first + len(text.rstrip(BLANK_CHARS)))


def _trimmed_end(data: bytes, start: int, end: int) -> int:
    return start + len(data[start:end].rstrip(BLANK_CHARS))
