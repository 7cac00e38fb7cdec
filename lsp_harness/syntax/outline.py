"""What a file declares, a line each, in its own language: enough to call things, too little to be distracted by.

Bodies of functions are left out, and so is whatever is declared inside them.
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
"""Longer lines are cut: an outline is read by a model with a small budget."""


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """One declaration. `text` has the indentation it has in the file; `depth` counts the classes around it."""

    start: int
    text: str
    depth: int
    kind: OutlineKind


@dataclass(frozen=True, slots=True)
class _Declaration:
    kind: OutlineKind
    node: Node
    stop: int
    """Where its line ends in the source."""
    value: Node | None


def build_outline(tree: SyntaxTree, *, exclude: tuple[int, int] | None = None) -> list[OutlineLine]:
    """Imports, signatures and top-level declarations in source order, without those that lie inside `exclude`."""
    lines: list[OutlineLine] = []
    around: list[_Declaration] = []
    for it in sorted(_find_declarations(tree), key=lambda it: (it.node.start_byte, -it.node.end_byte)):
        start, end = it.node.byte_range
        while around and around[-1].node.end_byte <= start:
            around.pop()
        outer = [*around]
        around.append(it)
        if exclude and exclude[0] <= start and end <= exclude[1]:
            continue
        if outer and outer[-1].kind == "const" and it.node.parent == outer[-1].node and lines:
            # `const f = () => {…}` declares a function
            lines.pop()
        elif any(declaration.kind in ("function", "const", "type") for declaration in outer):
            # What a function declares is its own business, and what a type has is on its line.
            continue
        depth = sum(declaration.kind == "class" for declaration in outer)
        lines.append(OutlineLine(start, _render_line(tree, it), depth, it.kind))
    return lines


def _find_declarations(tree: SyntaxTree) -> Iterable[_Declaration]:
    found: dict[tuple[int, int], _Declaration] = {}
    for nodes in matches(tree.language, "outline", tree.root):
        for name, (node, *_) in nodes.items():
            if name in get_args(OutlineKind):
                head, body, value = (nodes.get(part, [None])[0] for part in ("head", "body", "value"))
                cut = body or value
                stop = head.end_byte if head else cut.start_byte if cut else node.end_byte
                one = _Declaration(cast("OutlineKind", name), node, stop, value)
                found[node.byte_range] = max(found.get(node.byte_range, one), one, key=_specificity)
    return found.values()


def _specificity(it: _Declaration) -> tuple[int, int]:
    """Of two patterns that find the same node, which says more: a kind of function that is a field is a function, a
    signature ends at the first thing that is not part of it, and of `x = 1, y = 2` only the last value may be cut."""
    return {"import": 2, "function": 1}.get(it.kind, 0), it.stop if it.value else -it.stop


def _render_line(tree: SyntaxTree, it: _Declaration) -> str:
    data = tree.data
    begin = data.rfind(b"\n", 0, it.node.start_byte) + 1
    before = data[begin : it.node.start_byte]
    indent = before[: len(before) - len(before.lstrip())]
    # `export`, `public static` and the like may stand outside of the node.
    if not re.fullmatch(rb"[\w\s<>,&*]*", before):
        begin = it.node.start_byte
    # Go ends statements at the ends of lines.
    grouped = tree.language.id == "go" and it.kind in ("import", "const")
    text = _join_lines(data, it.node, begin, it.stop, b"; " if grouped else b" ")
    if it.kind == "function":
        text += " ..." * text.endswith("=>") + tree.language.stub
    elif it.value:
        value = data[it.value.start_byte : it.value.end_byte]
        text += " " * data[it.stop - 1 : it.stop].isspace() + (
            decode(value) if len(value) <= 60 and b"\n" not in value else "..."
        )
    return decode(indent) + (text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…")


def _join_lines(data: bytes, node: Node, begin: int, stop: int, separator: bytes) -> str:
    """The source from `begin` to `stop` on one line, without comments and the brace that opens a body."""
    text = data[begin:stop]
    if b"\n" in text.strip():
        pieces: list[bytes] = []
        at = begin
        for comment in _find_comments(node, stop):
            pieces.append(data[at : comment.start_byte])
            at = comment.end_byte - data[comment.start_byte : comment.end_byte].endswith(b"\n")
        lines = b"".join((*pieces, data[at:stop])).splitlines()
        text = separator.join(b" ".join(line.split()) for line in lines if line.strip())
    shown = re.sub(r"([(\[]);? ", r"\1", decode(text))
    shown = re.sub(r"[,;]? ([)\]])", r"\1", shown).replace(", }", " }")
    return shown.strip().rstrip("{;").rstrip()


def _find_comments(node: Node, stop: int) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.start_byte >= stop:
            continue
        if node.is_extra:
            yield node
        else:
            waiting += reversed(node.children)
