"""What other files say about the names around a cursor: the definitions that they are imported from, as signatures, and code
that is like what is being written. Both are read off the index."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsp_harness.context.fragment import Count, Fragment
from lsp_harness.index.search import Search
from lsp_harness.index.view import Symbol, View
from lsp_harness.syntax.declarations import TYPES, declared
from lsp_harness.syntax.languages import language_for
from lsp_harness.syntax.scope import Scope, enclosing_class, enclosing_function, imports
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

ABOVE, BELOW = 40, 20
"""Lines around the cursor whose names count."""
DEFINITIONS = 24
"""Definitions that are looked at, the nearest names first."""
WIDTH = 200
"""Characters of a line of a definition."""
NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
MEMBER = re.compile(r"\.\s*([^\W\d]\w*)")
WORD = re.compile(r"[^\W\d]\w+")
WINDOW, AFTER = 10, 6
"""Lines that are compared with those above the cursor, and those after them that show how it went on."""
LEAST_ALIKE = 0.2
"""Words that both have, of all that either has."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a place: its names, the nearest first, those that are members of something, and the types it is in."""

    names: tuple[str, ...]
    members: frozenset[str]
    bases: tuple[str, ...]


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
    return Around(tuple(names), members, _bases(tree, type_) if type_ else ())


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
    for name in (*near.bases, *near.names):
        head, _, rest = name.partition(".")
        found = view.defined(path, head) or (view.of_module(path, head, rest.split(".")[0]) if rest else [])
        for symbol in found:
            if (symbol.file, symbol.n) in seen or number == DEFINITIONS:
                continue
            seen.add((symbol.file, symbol.n))
            number += 1
            yield from _declaration(view, symbol, number, near.members)


def _declaration(view: View, symbol: Symbol, number: int, members: frozenset[str]) -> Iterator[Line]:
    yield Line((0, number), symbol.path, symbol.start, _text(view, symbol))
    if symbol.kind not in TYPES:
        return
    for one in view.members(symbol):
        if one.kind in TYPES:
            continue
        if one.name in members:
            rank = 1
        elif one.kind == "constructor" or one.name in ("__init__", "constructor", "new", "initialize", "__construct"):
            rank = 2
        else:
            rank = 4 if one.name.startswith("_") else 3
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


def alike(search: Search, view: View, path: str, document: Document, offset: int) -> tuple[str, str] | None:
    """The file that has the lines most like those above the cursor, and these lines with how they go on."""
    line = document.line_of(offset)
    here = [decode(document.line(n)) for n in range(max(0, line - 2 * WINDOW), line)]
    here = [text for text in here if text.strip()][-WINDOW:]
    wanted = set(WORD.findall("\n".join(here)))
    if len(wanted) < 3:
        return None
    best: tuple[float, str, str] = (0.0, "", "")
    for hit in search.fused([search.by_words(" ".join(sorted(wanted)))], 20):
        if hit.path == path:
            continue
        lines = view.lines(hit.path, hit.start, hit.end)
        for first in range(max(1, len(lines) - WINDOW + 1)):
            words = set(WORD.findall("\n".join(lines[first : first + WINDOW])))
            score = len(words & wanted) / len(words | wanted) if words else 0.0
            if score > best[0]:
                best = score, hit.path, "\n".join(lines[first : first + WINDOW + AFTER])
    score, origin, text = best
    return (origin, text) if score >= LEAST_ALIKE else None
