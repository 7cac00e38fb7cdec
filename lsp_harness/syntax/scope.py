"""The function, class and statement around a place, and the imports of a file.

The query `scopes.scm` of each language defines which nodes these are. This module selects among them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.position import Span, decode

BLANK_CHARS = b" \t\r\n\f"
MAX_IMPORT_DEPTH = 4
"""Levels below the root at which imports are searched for; enough for one in a `try` or under `if TYPE_CHECKING`."""
VALUE_FIELDS = ("value", "right")
"""The fields of a declaration or an assignment with what is assigned."""
ATTACHED_NODES = frozenset({"attribute_item", "decorator"})
"""Nodes that stand before the definition that they belong to, not in it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class with its byte offsets. `body_start` is the start of its body, or `end` if it has none."""

    kind: Literal["function", "class"]
    name: str
    start: int
    end: int
    body_start: int


def enclosing_function(tree: SyntaxTree, offset: int) -> Scope | None:
    """Return the innermost function around an offset, or None at the top level.

    One-line functions without a name are ignored.
    """
    return _find_scope(tree, offset, "function")


def enclosing_class(tree: SyntaxTree, offset: int) -> Scope | None:
    """Return the innermost class (struct, trait, interface, impl, module …) around an offset, or None."""
    return _find_scope(tree, offset, "class")


def function_at(tree: SyntaxTree, offset: int) -> Scope | None:
    """Return the innermost function around an offset, or the one that is declared there, or None.

    Its declaration may begin before the function itself, as in `export const area = (r) => …` and with a decorator.
    """
    node = _find_function_node(tree, offset)
    return _make_scope(node, "function") if node else None


def declared_function(tree: SyntaxTree, name_start: int) -> Scope | None:
    """Return the function that a name declares: one with this name, or one that is assigned to it, or None."""
    outermost = next((node for node in tree.root.children if node.start_byte <= name_start < node.end_byte), None)
    if outermost is None:
        return None
    functions = captures(tree.language, "scopes", outermost, (name_start, outermost.end_byte)).get("function", [])
    ids = {node.id for node in functions}
    node = find_declared_node(tree.root, name_start, lambda node: node.id in ids)
    return _make_scope(node, "function") if node else None


def find_declared_node(root: Node, name_start: int, is_function: Callable[[Node], bool]) -> Node | None:
    """Return the node of the function with a name, or of the one that is assigned to it, or None.

    Args:
        root: The root of the tree.
        name_start: The offset of the name.
        is_function: Returns whether a node is a function.
    """
    for node in nodes_around(root, name_start, name_start):
        value = _first_field(node, *VALUE_FIELDS)
        if value and name_start < value.start_byte and is_function(value):
            return value
        if is_function(node):
            return node
    return None


def function_text_span(tree: SyntaxTree, offset: int) -> Span | None:
    """Return the bytes of the function of `function_at` as a person would copy it, or None if there is no function.

    They include the indentation of the first line, the decorators and attributes, and the comment right above.
    """
    node = _find_function_node(tree, offset)
    if node is None:
        return None
    scopes = captures(tree.language, "scopes", tree.root, (node.start_byte, node.start_byte + 1))
    wrappers = {n.id for n in scopes.get("wrapper", [])}
    top = node
    while (parent := top.parent) and parent.id in wrappers:
        top = parent
    start = _attached_start(tree, top)
    line_start = tree.data.rfind(b"\n", 0, start) + 1
    return Span(line_start if not tree.data[line_start:start].strip() else start, max(top.end_byte, node.end_byte))


def statement_at(tree: SyntaxTree, start: int, end: int) -> Span | None:
    """Return the smallest statement around a range, or None if there is only blank space.

    If the range is in the header of a compound statement, only the header is returned. If there is a syntax error
    around the range, its lines are returned.
    """
    start, end = _trim_range(tree.data, start, end)
    if start == end:
        return None
    scopes = captures(tree.language, "scopes", tree.root, (start, max(end, start + 1)))
    statements = [n for n in scopes.get("statement", []) if n.start_byte <= start and n.end_byte >= end]
    candidates = [n for n in statements if not n.is_extra]
    node = min(candidates, key=lambda n: n.end_byte - n.start_byte, default=None)
    error = _error_node_around(tree.root, start, end)
    if node is None or node.is_error or (error and _contains(node, error)):
        return _line_span(tree.data, start, end)
    statement_end = _header_end(tree, node, end) or _trimmed_end(tree.data, node.start_byte, node.end_byte)
    return Span(node.start_byte, statement_end)


def outermost_statement(tree: SyntaxTree, offset: int) -> Span | None:
    """Return the bytes of the statement of the file around an offset, such as a class, or None if there is none."""
    nodes = (node for node in tree.root.children if node.start_byte <= offset < node.end_byte and not node.is_extra)
    node = next(nodes, None)
    return Span(node.start_byte, _trimmed_end(tree.data, node.start_byte, node.end_byte)) if node else None


def find_imports(tree: SyntaxTree) -> list[Span]:
    """Return the import statements of a file in the order of the source, without those inside of functions."""
    nodes = captures(tree.language, "outline", tree.root, depth=MAX_IMPORT_DEPTH).get("import", [])
    return sorted({Span(n.start_byte, _trimmed_end(tree.data, n.start_byte, n.end_byte)) for n in nodes})


def _find_scope(tree: SyntaxTree, offset: int, kind: Literal["function", "class"]) -> Scope | None:
    node = _innermost_node(tree, offset, kind)
    return _make_scope(node, kind) if node else None


def _find_function_node(tree: SyntaxTree, offset: int) -> Node | None:
    """Return the node of the function that is declared at an offset, or else of the innermost one around it."""
    line_end = tree.data.find(b"\n", offset)
    text = tree.data[offset : line_end if line_end >= 0 else len(tree.data)]
    start = offset + len(text) - len(text.lstrip(BLANK_CHARS))
    scopes = captures(tree.language, "scopes", tree.root, (start, start + 1))
    wrappers = [node for node in scopes.get("wrapper", []) if node.start_byte <= start < node.end_byte]
    around = _innermost_node(tree, offset, "function")
    wrapper = min(wrappers, key=lambda node: node.end_byte - node.start_byte, default=None)
    if wrapper is None or (around and around.start_byte >= wrapper.start_byte):
        return around
    inside = captures(tree.language, "scopes", wrapper).get("function", [])
    return min(inside, key=lambda node: node.start_byte, default=around)


def _make_scope(node: Node, kind: Literal["function", "class"]) -> Scope:
    body = node.child_by_field_name("body")
    body_start = body.start_byte if body else node.end_byte
    return Scope(kind, _name(node), node.start_byte, node.end_byte, body_start)


def _innermost_node(tree: SyntaxTree, offset: int, kind: str) -> Node | None:
    data = tree.data
    anchor, column = offset, 0
    if tree.language.block == "indent":
        anchor, column = _find_anchor(data, offset, tree.language.comment.encode())
    first, last = min(anchor, offset), max(anchor, offset)
    nodes = captures(tree.language, "scopes", tree.root, (first, last + 1)).get(kind, [])
    enclosing = [
        n
        for n in nodes
        if n.start_byte <= offset < n.end_byte
        or (n.start_byte <= anchor < n.end_byte and _count_column(data, n) < column)
    ]
    # A one-line lambda such as `x => x.y` is part of an expression and is no scope of its own.
    enclosing = [n for n in enclosing if b"\n" in data[n.start_byte : n.end_byte] or _name(n)]
    return min(enclosing, key=lambda n: n.end_byte - n.start_byte, default=None)


def _find_anchor(data: bytes, offset: int, comment: bytes) -> tuple[int, int]:
    """Return the offset to search at and the column of the cursor, for languages with indented blocks.

    The offset is the start of the text of the line. On a blank or comment line it is the start of the text of the last
    line of code above: its block may continue there, if the cursor is indented more than the head of the block.
    """
    line = data.rfind(b"\n", 0, offset) + 1
    stop = data.find(b"\n", offset)
    text = data[line : stop if stop >= 0 else len(data)]
    column = indent_width(text) if text.strip() else len(data[line:offset].expandtabs(8))
    while line > 0 and _is_blank(text, comment):
        stop = line - 1
        line = data.rfind(b"\n", 0, stop) + 1
        text = data[line:stop]
    # The tree decides for a line of code, whatever its indentation is. The column only matters for the lines above.
    is_above = line + len(text) < offset
    return line + len(text) - len(text.lstrip()), column if is_above else 1 << 30


def _is_blank(line: bytes, comment: bytes) -> bool:
    text = line.strip()
    return not text or text.startswith(comment)


def indent_width(line: bytes) -> int:
    """Return the width of the indentation of a line in columns. A tab advances to the next multiple of 8."""
    text = line.expandtabs(8)
    return len(text) - len(text.lstrip())


def _count_column(data: bytes, node: Node) -> int:
    return indent_width(data[data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte] + b".")


def _name(node: Node) -> str:
    """Return the name of a definition, or the name that an anonymous function or class is assigned to."""
    name = _first_field(node, "name", "declarator", "type")
    parent = node.parent
    if name is None and parent and node in [parent.child_by_field_name(field) for field in VALUE_FIELDS]:
        name = _first_field(parent, "name", "left", "pattern", "key", "property")
    while name and (inner := name.child_by_field_name("declarator")):
        name = inner
    text = decode(name.text or b"") if name else ""
    # The declarator of a C++ lambda is its parameter list.
    return "" if text.startswith("(") else text


def _first_field(node: Node, *names: str) -> Node | None:
    return next((child for name in names if (child := node.child_by_field_name(name))), None)


def _attached_start(tree: SyntaxTree, node: Node) -> int:
    """Return the start of the comments and attributes on the lines right above a node."""
    start = node.start_byte
    above = node.prev_sibling
    if above is None and node.parent and node.parent.start_byte == start:
        # In Python a comment at the top of a block is outside of the block's node.
        above = node.parent.prev_sibling
    while above and (above.is_extra or above.type in ATTACHED_NODES):
        # In some grammars the end of the line is part of a comment.
        end = _trimmed_end(tree.data, above.start_byte, above.end_byte)
        line_start = tree.data.rfind(b"\n", 0, above.start_byte) + 1
        is_alone = not tree.data[line_start : above.start_byte].strip()
        if not is_alone or tree.data.count(b"\n", end, start) > 1:
            break
        start = above.start_byte
        above = above.prev_sibling
    return start


def _header_end(tree: SyntaxTree, node: Node, end: int) -> int | None:
    """Return the end of the header of a compound statement.

    It is None if `end` is behind the header, or if the statement has just one line.
    """
    blocks = captures(tree.language, "scopes", node, (node.start_byte, node.end_byte)).get("block", [])
    inner = [b for b in blocks if b.id != node.id and b.start_byte >= node.start_byte and b.end_byte <= node.end_byte]
    block = min(inner, key=lambda b: b.start_byte, default=None)
    if block is None:
        return None
    # The header ends with the token that opens the block, `{` or `do`.
    opener = block.child(0)
    stop = opener.end_byte if opener and not opener.is_named else _end_of_previous_token(block)
    return stop if end <= stop and b"\n" in tree.data[stop : node.end_byte] else None


def _end_of_previous_token(block: Node) -> int:
    """Return the end of the last token before a block that is no comment."""
    above = block.prev_sibling
    while above and above.is_extra:
        above = above.prev_sibling
    return above.end_byte if above else block.start_byte


def _error_node_around(root: Node, start: int, end: int) -> Node | None:
    return next((node for node in nodes_around(root, start, end) if node.is_error), None)


def _contains(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _trim_range(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return a range without the blanks around it.

    An empty range becomes the nearest non-blank byte of the line, first to the left.
    """
    start, end = max(0, min(start, len(data))), max(0, min(end, len(data)))
    text = data[start:end]
    if text.strip(BLANK_CHARS):
        return start + len(text) - len(text.lstrip(BLANK_CHARS)), end - (len(text) - len(text.rstrip(BLANK_CHARS)))
    line_start = data.rfind(b"\n", 0, start) + 1
    left = data[line_start:start].rstrip(BLANK_CHARS)
    if left:
        return line_start + len(left) - 1, line_start + len(left)
    stop = data.find(b"\n", start)
    right = data[start : stop if stop >= 0 else len(data)]
    first = start + len(right) - len(right.lstrip(BLANK_CHARS))
    return (first, first + 1) if right.strip(BLANK_CHARS) else (start, start)


def _line_span(data: bytes, start: int, end: int) -> Span:
    """Return the bytes of the lines of a range, without the indentation of the first and the terminator of the last."""
    first = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", end)
    text = data[first : stop if stop >= 0 else len(data)]
    return Span(first + len(text) - len(text.lstrip(BLANK_CHARS)), first + len(text.rstrip(BLANK_CHARS)))


def _trimmed_end(data: bytes, start: int, end: int) -> int:
    return start + len(data[start:end].rstrip(BLANK_CHARS))
