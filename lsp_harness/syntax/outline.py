"""The outline of a file: one line of its own language for each declaration, with enough detail to call it.

Bodies of functions and the declarations inside of them are left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.tree_query import matches
from lsp_harness.text.position import decode

OutlineKind = Literal["import", "decorator", "class", "function", "type", "const", "field"]

MAX_LINE_CHARS = 200
"""Longer lines are cut, as the outline goes to a model with a small context."""


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """One declaration of an outline.

    `start` is its byte offset, `text` keeps the indentation of the file, `depth` counts the enclosing classes.
    """

    start: int
    text: str
    depth: int
    kind: OutlineKind


@dataclass(frozen=True, slots=True)
class _Declaration:
    kind: OutlineKind
    node: Node
    stop: int
    """The byte at which its line in the outline ends in the source."""
    value: Node | None
    """The value of a constant or a field."""


def build_outline(tree: SyntaxTree, *, exclude: tuple[int, int] | None = None) -> list[OutlineLine]:
    """Return imports, signatures and top-level declarations in the order of the source.

    Args:
        tree: The tree of the file.
        exclude: Start and end of a byte range. Declarations inside of it are left out.
    """
    lines: list[OutlineLine] = []
    enclosing: list[_Declaration] = []
    for declaration in sorted(_find_declarations(tree), key=_source_order):
        start, end = declaration.node.byte_range
        while enclosing and enclosing[-1].node.end_byte <= start:
            enclosing.pop()
        outer = [*enclosing]
        enclosing.append(declaration)
        if exclude and exclude[0] <= start and end <= exclude[1]:
            continue
        if outer and outer[-1].kind == "const" and declaration.node.parent == outer[-1].node and lines:
            # `const f = () => {…}` declares a function, which replaces the line of the constant.
            lines.pop()
        elif any(parent.kind in ("function", "const", "type") for parent in outer):
            # Declarations in a function are not visible outside of it. Members of a type are on the line of the type.
            continue
        depth = sum(parent.kind == "class" for parent in outer)
        lines.append(OutlineLine(start, _render_line(tree, declaration), depth, declaration.kind))
    return lines


def _source_order(declaration: _Declaration) -> tuple[int, int]:
    return declaration.node.start_byte, -declaration.node.end_byte


def _find_declarations(tree: SyntaxTree) -> Iterable[_Declaration]:
    declarations: dict[tuple[int, int], _Declaration] = {}
    for nodes in matches(tree.language, "outline", tree.root):
        for name, (node, *_) in nodes.items():
            if name in get_args(OutlineKind):
                head, body, value = (nodes.get(part, [None])[0] for part in ("head", "body", "value"))
                cut = body or value
                stop = head.end_byte if head else cut.start_byte if cut else node.end_byte
                new = _Declaration(cast("OutlineKind", name), node, stop, value)
                old = declarations.get(node.byte_range, new)
                declarations[node.byte_range] = max(old, new, key=_rate_specificity)
    return declarations.values()


def _rate_specificity(declaration: _Declaration) -> tuple[int, int]:
    """Return a sort key that is largest for the best of several patterns that match the same node.

    A field that holds a function is a function. A signature ends at the first part that does not belong to it. In `x =
    1, y = 2` only the last value may be cut.
    """
    rank = {"import": 2, "function": 1}.get(declaration.kind, 0)
    return rank, declaration.stop if declaration.value else -declaration.stop


def _render_line(tree: SyntaxTree, declaration: _Declaration) -> str:
    data, node, stop = tree.data, declaration.node, declaration.stop
    start = data.rfind(b"\n", 0, node.start_byte) + 1
    before = data[start : node.start_byte]
    indent = before[: len(before) - len(before.lstrip())]
    # Modifiers such as `export` and `public static` may stand outside of the node.
    if not re.fullmatch(rb"[\w\s<>,&*]*", before):
        start = node.start_byte
    # In Go the end of a line ends a statement, so that joined lines need a semicolon.
    is_group = tree.language.declarations.has_groups and declaration.kind in ("import", "const")
    text = _join_lines(data, node, start, stop, b"; " if is_group else b" ")
    if declaration.kind == "function":
        text += " ..." * text.endswith("=>") + tree.language.stub
    elif declaration.value:
        value = data[declaration.value.start_byte : declaration.value.end_byte]
        text += " " * data[stop - 1 : stop].isspace()
        text += decode(value) if len(value) <= 60 and b"\n" not in value else "..."
    return decode(indent) + (text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…")


def _join_lines(data: bytes, node: Node, start: int, stop: int, separator: bytes) -> str:
    """Return the source from `start` to `stop` on one line, without comments and the brace of a body."""
    text = data[start:stop]
    if b"\n" in text.strip():
        pieces: list[bytes] = []
        piece_start = start
        for comment in _find_comments(node, stop):
            pieces.append(data[piece_start : comment.start_byte])
            piece_start = comment.end_byte - data[comment.start_byte : comment.end_byte].endswith(b"\n")
        lines = b"".join((*pieces, data[piece_start:stop])).splitlines()
        text = separator.join(b" ".join(line.split()) for line in lines if line.strip())
    line = re.sub(r"([(\[]);? ", r"\1", decode(text))
    line = re.sub(r"[,;]? ([)\]])", r"\1", line).replace(", }", " }")
    return line.strip().rstrip("{;").rstrip()


def _find_comments(node: Node, stop: int) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.start_byte >= stop:
            continue
        if node.is_extra:
            yield node
        else:
            stack += reversed(node.children)
