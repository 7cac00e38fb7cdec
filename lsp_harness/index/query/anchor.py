"""Starting points of a search: a declaration or lines of code, and the symbols that their names mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lsp_harness.index.graph.name_resolution import NameUse, ResolvedDeclaration, SourceText, resolve_name
from lsp_harness.index.identifier_words import DOTTED_NAME
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import SELECT_SYMBOLS, Symbol, read_symbol_row
from lsp_harness.store.database import DatabaseReader
from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.text.position import encode

MAX_NAMES = 24
"""Number of names of an anchor that are resolved, the nearest first."""
MAX_DECLARATIONS = 4
"""Number of declarations of one name at which a search starts."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A byte offset in a file of the index."""

    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class SymbolName:
    """A symbol by its name or the end of its qualified name. If `path` is given, only that file counts."""

    name: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the code at which a search starts.

    `text` begins at byte `start` of its file, and the place is at byte `offset` of the file. `own_chunks` are the
    chunks of the declaration there and of its members. `name` is its qualified name, empty outside of declarations.
    `digest` is that of the text that the vector is made of.
    """

    path: str
    language: str
    file: int
    own_chunks: frozenset[int]
    name: str
    text: str
    start: int
    offset: int
    digest: bytes


def find_anchors(reader: DatabaseReader, target: FilePosition | SymbolName) -> list[Anchor]:
    """Return the anchors of a position or of a symbol name; empty if the index does not contain it."""
    if isinstance(target, FilePosition):
        return [*_anchors_at(reader, target)]
    symbols = find_declared(reader, target)
    anchors = [
        anchor
        for symbol in symbols[:MAX_DECLARATIONS]
        for anchor in _anchors_at(reader, FilePosition(symbol.path, symbol.named))
    ]
    # A field is in the chunk of its class, but the field itself was asked for.
    return [replace(anchor, name=symbol.qualified) for anchor, symbol in zip(anchors, symbols, strict=False)]


def find_declared(reader: DatabaseReader, target: SymbolName) -> list[Symbol]:
    """Return the symbols with this name."""
    return [
        symbol for symbol in IndexView(reader).symbols.find_qualified(target.name) if target.path in ("", symbol.path)
    ]


def _anchors_at(reader: DatabaseReader, position: FilePosition) -> Iterator[Anchor]:
    # Blank lines are in no chunk; they count to the chunk above them.
    rows = reader.rows(
        "SELECT files.id, language, symbol, chunks.id, chunks.start, text, chunks.digest "
        "FROM chunks JOIN files ON files.id = chunks.file "
        "JOIN texts ON texts.rowid = chunks.id WHERE path = ? AND chunks.start <= ? "
        "ORDER BY chunks.start DESC LIMIT 1",
        (position.path, position.offset),
    )
    for file, language, n, chunk, start, text, digest in rows:
        own_chunks, name = {chunk}, ""
        for row in reader.rows(f"{SELECT_SYMBOLS} WHERE file = ? AND n = ?", (file, n)) if n >= 0 else ():
            symbol = read_symbol_row(row)
            name = symbol.qualified
            arguments = (file, n, symbol.start, symbol.end)
            own_chunks |= {
                id
                for (id,) in reader.rows(
                    "SELECT id FROM chunks WHERE file = ? AND (symbol = ? OR (start >= ? AND start < ?))", arguments
                )
            }
        yield Anchor(position.path, language, file, frozenset(own_chunks), name, text, start, position.offset, digest)


def find_used_symbols(reader: DatabaseReader, anchor: Anchor) -> Iterator[Symbol]:
    """Yield the symbols that the names in an anchor mean, the nearest names first."""
    view = IndexView(reader)
    symbols = [
        read_symbol_row(row) for row in reader.rows(f"{SELECT_SYMBOLS} WHERE file = ? ORDER BY n", (anchor.file,))
    ]
    text = SourceText(anchor.path, anchor.language, [_to_declaration(meaning) for meaning in symbols])
    seen_symbols: dict[tuple[int, int], Symbol] = {}
    for name in _nearest_names(anchor):
        for meaning in resolve_name(view, text, name):
            symbol = _resolved_symbol(symbols, meaning)
            if symbol and (symbol.file, symbol.n) not in seen_symbols:
                seen_symbols[symbol.file, symbol.n] = symbol
                yield symbol


def find_chunks(reader: DatabaseReader, symbols: Iterable[Symbol]) -> Iterator[int]:
    """Yield the ids of the chunks in which the symbols are declared."""
    for symbol in symbols:
        sql = "SELECT id FROM chunks WHERE file = ? AND start <= ? AND end > ?"
        yield from (id for (id,) in reader.rows(sql, (symbol.file, symbol.named, symbol.named)))


def _nearest_names(anchor: Anchor) -> list[NameUse]:
    """Return each name once, where it is nearest to the anchor's place, with its qualifier."""
    line = _count_line(anchor.text, anchor.offset - anchor.start)
    nearest_by_name: dict[str, tuple[int, NameUse]] = {}
    for match in DOTTED_NAME.finditer(anchor.text):
        *qualifier, last = match[0].split(".")
        offset = anchor.start + len(encode(anchor.text[: match.end()])) - len(encode(last))
        line_distance = abs(anchor.text.count("\n", 0, match.start()) - line)
        if match[0] not in nearest_by_name or line_distance < nearest_by_name[match[0]][0]:
            nearest_by_name[match[0]] = line_distance, NameUse(last, offset, tuple(qualifier))
    nearest = sorted(nearest_by_name.values(), key=lambda entry: (entry[0], entry[1].start))
    return [name for _, name in nearest if name.text != anchor.name.rpartition(".")[2]][:MAX_NAMES]


def _count_line(text: str, offset: int) -> int:
    return encode(text)[: max(0, offset)].count(b"\n")


def _resolved_symbol(symbols: list[Symbol], meaning: ResolvedDeclaration) -> Symbol | None:
    return meaning.symbol or (symbols[meaning.local_index] if meaning.local_index >= 0 else None)


def _to_declaration(symbol: Symbol) -> Declaration:
    return Declaration(
        symbol.kind,
        symbol.name,
        symbol.start,
        symbol.end,
        symbol.named,
        symbol.body,
        symbol.line,
        symbol.parent,
        "",
        symbol.bases,
    )
