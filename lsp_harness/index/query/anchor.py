"""A place of the code that a search begins at: the declaration there, or the lines, and what their names mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lsp_harness.index.graph.name_resolution import Meant, Name, Text, meant
from lsp_harness.index.identifier_words import NAME
from lsp_harness.index.index_view import SYMBOLS, Symbol, View, symbol_of
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.text.position import encode

NAMES = 24
"""Names of a place that are looked up, the nearest first."""
DECLARED = 4
"""Declarations of one name that a search begins at."""


@dataclass(frozen=True, slots=True)
class At:
    """A byte of a file of the index."""

    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class Named:
    """A symbol, by its name or the end of its qualified name; where `path` is given that of this file."""

    name: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """`text` begins at byte `start` of its file, and the place is at `at` in it; `own` are the chunks of the declaration there, with
    what that has inside; `name` is qualified, empty where there is none. `digest` is that of the text a vector may be of."""

    path: str
    language: str
    file: int
    own: frozenset[int]
    name: str
    text: str
    start: int
    at: int
    digest: bytes


def spots(reader: Reader, asked: At | Named) -> list[Spot]:
    """The places that are meant; none where the index knows no such file or name."""
    if isinstance(asked, At):
        return [*_at(reader, asked)]
    named = declared(reader, asked)
    found = [spot for one in named[:DECLARED] for spot in _at(reader, At(one.path, one.named))]
    # a field stands in the chunk of its class: what was asked for is the field
    return [replace(spot, name=one.qualified) for spot, one in zip(found, named, strict=False)]


def declared(reader: Reader, asked: Named) -> list[Symbol]:
    """What is called so."""
    return [one for one in View(reader).called(asked.name) if asked.path in ("", one.path)]


def _at(reader: Reader, at: At) -> Iterator[Spot]:
    # what is blank is in no chunk, and belongs to what is above it
    rows = reader.rows(
        "SELECT files.id, language, symbol, chunks.id, chunks.start, text, chunks.digest FROM chunks JOIN files ON files.id = "
        "chunks.file JOIN texts ON texts.rowid = chunks.id WHERE path = ? AND chunks.start <= ? ORDER BY chunks.start DESC LIMIT 1",
        (at.path, at.offset),
    )
    for file, language, n, chunk, start, text, digest in rows:
        own, name = {chunk}, ""
        for row in reader.rows(f"{SYMBOLS} WHERE file = ? AND n = ?", (file, n)) if n >= 0 else ():
            symbol = symbol_of(row)
            name = symbol.qualified
            inside = (file, n, symbol.start, symbol.end)
            own |= {
                id
                for (id,) in reader.rows(
                    "SELECT id FROM chunks WHERE file = ? AND (symbol = ? OR (start >= ? AND start < ?))", inside
                )
            }
        yield Spot(at.path, language, file, frozenset(own), name, text, start, at.offset, digest)


def used(reader: Reader, spot: Spot) -> Iterator[Symbol]:
    """What the names in a place mean, those nearest to it first, but for what is declared there."""
    view = View(reader)
    symbols = [symbol_of(row) for row in reader.rows(f"{SYMBOLS} WHERE file = ? ORDER BY n", (spot.file,))]
    text = Text(spot.path, spot.language, [_declaration(one) for one in symbols])
    seen: dict[tuple[int, int], Symbol] = {}
    for name in _names(spot):
        for one in meant(view, text, name):
            symbol = _symbol(symbols, one)
            if symbol and (symbol.file, symbol.n) not in seen:
                seen[symbol.file, symbol.n] = symbol
                yield symbol


def chunks_of(reader: Reader, symbols: Iterable[Symbol]) -> Iterator[int]:
    """The chunk that each symbol is declared in."""
    for one in symbols:
        sql = "SELECT id FROM chunks WHERE file = ? AND start <= ? AND end > ?"
        yield from (id for (id,) in reader.rows(sql, (one.file, one.named, one.named)))


def _names(spot: Spot) -> list[Name]:
    """Each name once, where it stands nearest to the place, with those before its dots."""
    line = _line(spot.text, spot.at - spot.start)
    found: dict[str, tuple[int, Name]] = {}
    for match in NAME.finditer(spot.text):
        *before, last = match[0].split(".")
        at = spot.start + len(encode(spot.text[: match.end()])) - len(encode(last))
        far = abs(spot.text.count("\n", 0, match.start()) - line)
        if match[0] not in found or far < found[match[0]][0]:
            found[match[0]] = far, Name(last, at, tuple(before))
    nearest = sorted(found.values(), key=lambda one: (one[0], one[1].start))
    return [name for _, name in nearest if name.text != spot.name.rpartition(".")[2]][:NAMES]


def _line(text: str, at: int) -> int:
    return encode(text)[: max(0, at)].count(b"\n")


def _symbol(symbols: list[Symbol], one: Meant) -> Symbol | None:
    return one.there or (symbols[one.here] if one.here >= 0 else None)


def _declaration(one: Symbol) -> Declaration:
    return Declaration(one.kind, one.name, one.start, one.end, one.named, one.body, one.line, one.parent, "", one.bases)
