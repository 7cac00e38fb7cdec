"""What other files say about the names around a cursor: the definitions they are imported from and what has these members, as
signatures, and in an import what there is to import. All is read off the index."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources import receiver_types
from lsp_harness.context.sources.cursor_names import CursorNames
from lsp_harness.index.identifier_words import words
from lsp_harness.index.index_view import Symbol, View
from lsp_harness.syntax.languages import language_for
from lsp_harness.syntax.symbols.declarations import TYPES

DEFINITIONS = 24
"""Definitions that are looked at, the nearest names first."""
RECEIVERS = 12
"""Names whose types are looked for."""
MAX_LINE_CHARS = 200
"""Characters of a line of a definition."""
IMPORTABLE = 60
"""Names that a module is said to have."""


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A line of a definition; those of a lower `rank` stay longest."""

    rank: tuple[int, int]
    path: str
    at: int
    text: str


def find_definitions(view: View, path: str, near: CursorNames) -> Iterator[DefinitionLine]:
    """The declarations that these names mean, a line each, with those of what they have inside."""
    comment = near.language.comment or "#"
    has: dict[str, dict[str, None]] = {}
    for one in view.exported(path, near.language.id, near.module) if near.module else ():
        if one.name not in near.imported and one.name[:1] != "_":
            has.setdefault(one.path, {})[one.name] = None
    for origin, names in has.items():
        yield DefinitionLine((0, 0), origin, 0, f"{comment} {near.module} has {', '.join([*names][:IMPORTABLE])}")
    named = islice(_once(_meant(view, path, near)), DEFINITIONS)
    types = receiver_types.find_receiver_types(view, path, near.language.id, near.text, near.names[:RECEIVERS])
    for number, symbol in enumerate(_once(chain(named, types)), 1):
        yield from _declaration(view, symbol, number, near)


def _meant(view: View, path: str, near: CursorNames) -> Iterator[Symbol]:
    for name in (*near.unused, *near.bases, *near.names):
        head, _, rest = name.partition(".")
        yield from view.defined(path, head) or (view.of_module(path, head, rest.split(".")[0]) if rest else [])


def _once(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    seen: set[tuple[int, int]] = set()
    for one in symbols:
        if (one.file, one.n) not in seen:
            seen.add((one.file, one.n))
            yield one


def _declaration(view: View, symbol: Symbol, number: int, near: CursorNames) -> Iterator[DefinitionLine]:
    yield DefinitionLine((0, number), symbol.path, symbol.start, _text(view, symbol))
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
        yield DefinitionLine((rank, number), one.path, one.start, "    " + _text(view, one))


def _text(view: View, symbol: Symbol) -> str:
    text = view.signature(symbol).rstrip("{ ")
    text = text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…"
    language = language_for(symbol.language, symbol.path)
    whole = symbol.body >= symbol.end or symbol.kind in TYPES
    return text if whole or language is None else text + language.stub


async def fit_signatures(
    lines: Iterable[DefinitionLine], budget: int, count: TokenCounter, comment: str
) -> list[Fragment]:
    """The lines within a budget, a fragment for each file, in an order that does not depend on the cursor."""
    listed = sorted(set(lines), key=lambda one: (one.rank, one.path, one.at))
    paths = sorted({one.path for one in listed})
    costs = await count([*(one.text + "\n" for one in listed), *(f"{comment} {path}\n" for path in paths)])
    titles = dict(zip(paths, costs[len(listed) :], strict=True))
    kept: dict[str, list[DefinitionLine]] = {}
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
