"""What other files say about the names around a cursor: the definitions they are imported from and what has these members, as
signatures, and in an import what there is to import. All is read off the index."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsp_harness.context import receivers
from lsp_harness.context.fragment import Count, Fragment
from lsp_harness.index.stop_words import STOP_WORDS
from lsp_harness.index.view import Symbol, View
from lsp_harness.index.words import words
from lsp_harness.syntax.declarations import TYPES, Import, declared
from lsp_harness.syntax.languages import language_for
from lsp_harness.syntax.scope import Scope, enclosing_class, enclosing_function, imports
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import decode, encode

ABOVE, BELOW = 40, 20
"""Lines around the cursor whose names count."""
DEFINITIONS = 24
"""Definitions that are looked at, the nearest names first."""
RECEIVERS = 12
"""Names whose types are looked for."""
WIDTH = 200
"""Characters of a line of a definition."""
NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
MEMBER = re.compile(r"\.\s*([^\W\d]\w*)")
UNFINISHED = re.compile(r"\s*from\s+([\w.]+)\s+import\b(.*)")
"""An import on one line, which may not be parsed yet as nothing stands after its last comma."""
CLOSE = 6
"""Lines around the cursor whose words tell which members of something are likely."""
IMPORTABLE = 60
"""Names that a module is said to have."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a place: its names, the nearest first, those that are members of something, the types it is in, the words
    that the nearest names are made of, and the module of the import that it is in, with what that has already."""

    names: tuple[str, ...]
    members: frozenset[str]
    bases: tuple[str, ...]
    words: frozenset[str] = frozenset()
    module: str = ""
    imported: frozenset[str] = frozenset()
    text: str = ""
    language: str = ""


def around(tree: SyntaxTree, offset: int) -> Around:
    """Names in the lines near a place, and in the head of the function it is in."""
    document = tree.document
    line = document.line_of(offset)
    # what is imported is not used yet
    brought = {n for span in imports(tree) for n in range(document.line_of(span.start), document.line_of(span.end) + 1)}
    lines = {*range(max(0, line - ABOVE), min(len(document.starts), line + BELOW + 1))} - brought
    texts = [decode(document.line(n)) for n in sorted(lines, key=lambda n: (abs(n - line), n > line))]
    function, type_ = enclosing_function(tree, offset), enclosing_class(tree, offset)
    head = decode(document.data[function.start : function.body_start]) if function else ""
    names = dict.fromkeys(name for text in (head, *texts) for name in NAME.findall(text))
    members = frozenset(name for text in texts for name in MEMBER.findall(text))
    close = "\n".join(decode(document.line(n)) for n in lines if abs(n - line) <= CLOSE)
    said = {word for word in words(" ".join(NAME.findall(close))).lower().split() if len(word) > 2} - STOP_WORDS
    module, imported = _importing(tree, offset)
    return Around(
        tuple(names),
        members,
        _bases(tree, type_) if type_ else (),
        frozenset(said),
        module,
        imported,
        decode(document.data),
        tree.language.id,
    )


def _importing(tree: SyntaxTree, offset: int) -> tuple[str, frozenset[str]]:
    """The module that a place in an import statement is about, and the names that are imported from it there."""
    if unfinished := UNFINISHED.match(decode(tree.document.line(tree.document.line_of(offset)))):
        return unfinished[1], frozenset(NAME.findall(unfinished[2]))
    node = tree.root.descendant_for_byte_range(offset, offset)
    while node and node.parent and node.parent.parent:
        node = node.parent
    if node is None or node.parent is None:
        return "", frozenset()
    found, brought = declared(tree.language, tree.data, tree.root, node.byte_range)
    there: list[Import] = [one for one in brought if node.start_byte <= one.start < node.end_byte]
    if not there or any(node.start_byte <= one.start < node.end_byte for one in found):
        return "", frozenset()

    def far(one: Import) -> tuple[bool, int]:
        # a tree of imports has one start; what is after the cursor counts where nothing is before it
        before, after = (
            tree.data.rfind(encode(one.name), node.start_byte, offset),
            tree.data.find(encode(one.name), offset),
        )
        return (before < 0, offset - before if before >= 0 else after)

    module = min(there, key=far).module
    return module, frozenset(one.name for one in there if one.module == module)


def _bases(tree: SyntaxTree, type_: Scope) -> tuple[str, ...]:
    found, _ = declared(tree.language, tree.data, tree.root, (type_.start, type_.body_start))
    return tuple(base for one in found if type_.start <= one.named < type_.body_start for base in one.bases)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a definition; those of a lower `rank` stay longest."""

    rank: tuple[int, int]
    path: str
    at: int
    text: str


def definitions(view: View, path: str, near: Around) -> Iterator[Line]:
    """The declarations that these names mean, a line each, with those of what they have inside."""
    seen: set[tuple[int, int]] = set()
    number = 0
    for origin, names in view.importable(path, near.module) if near.module else ():
        kept = [name for name in names if name not in near.imported and name[:1] != "_"][:IMPORTABLE]
        if kept:
            yield Line((0, 0), origin, 0, f"# {near.module} has {', '.join(kept)}")
    for name in (*near.bases, *near.names):
        head, _, rest = name.partition(".")
        found = view.defined(path, head) or (view.of_module(path, head, rest.split(".")[0]) if rest else [])
        for symbol in found:
            if (symbol.file, symbol.n) in seen or number == DEFINITIONS:
                continue
            seen.add((symbol.file, symbol.n))
            number += 1
            yield from _declaration(view, symbol, number, near)
    for symbol in receivers.types(view, path, near.language, near.text, near.names[:RECEIVERS]):
        if (symbol.file, symbol.n) not in seen:
            seen.add((symbol.file, symbol.n))
            number += 1
            yield from _declaration(view, symbol, number, near)


def _declaration(view: View, symbol: Symbol, number: int, near: Around) -> Iterator[Line]:
    yield Line((0, number), symbol.path, symbol.start, _text(view, symbol))
    if symbol.kind not in TYPES:
        return
    for one in view.members(symbol):
        if one.kind in TYPES:
            continue
        if one.name in near.members:
            rank = 1
        elif not near.words.isdisjoint(words(one.name).lower().split()):
            rank = 2
        elif one.kind == "constructor" or one.name in ("__init__", "constructor", "new", "initialize", "__construct"):
            rank = 3
        else:
            rank = 5 if one.name.startswith("_") else 4
        yield Line((rank, number), one.path, one.start, "    " + _text(view, one))


def _text(view: View, symbol: Symbol) -> str:
    text = view.signature(symbol).rstrip("{ ")
    text = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
    language = language_for(symbol.language, symbol.path)
    whole = symbol.body >= symbol.end or symbol.kind in TYPES
    return text if whole or language is None else text + language.stub


async def signatures(lines: Iterable[Line], budget: int, count: Count, comment: str) -> list[Fragment]:
    """The lines within a budget, a fragment for each file, in an order that does not depend on the cursor."""
    listed = sorted(set(lines), key=lambda one: (one.rank, one.path, one.at))
    paths = sorted({one.path for one in listed})
    costs = await count([*(one.text + "\n" for one in listed), *(f"{comment} {path}\n" for path in paths)])
    titles = dict(zip(paths, costs[len(listed) :], strict=True))
    kept: dict[str, list[Line]] = {}
    spent: Counter[str] = Counter()
    left = budget
    for one, cost in zip(listed, costs, strict=False):
        cost += titles[one.path] if one.path not in kept else 0
        if cost <= left:
            left -= cost
            spent[one.path] += cost
            kept.setdefault(one.path, []).append(one)
    return [
        Fragment(
            f"{comment} {path}\n" + "".join(one.text + "\n" for one in sorted(kept[path], key=lambda one: one.at)),
            spent[path],
            path,
            "defines what is used here",
        )
        for path in sorted(kept)
    ]
