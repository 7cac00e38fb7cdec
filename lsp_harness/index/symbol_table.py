"""The symbols of an index, together with the declarations of unsaved texts."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import DatabaseReader, Row, placeholders

MAX_MENTIONS = 200
TOP_LEVEL_SQL = (
    "(parent = -1 OR (SELECT kind FROM symbols AS around WHERE around.file = symbols.file "
    "AND around.n = symbols.parent) = 'namespace')"
)
"""SQL condition for symbols that are in no declaration other than a namespace."""
SYMBOL_COLUMNS = "path, language, file, n, parent, kind, name, qualified, start, end, named, body, line, bases"
SELECT_SYMBOLS = f"SELECT {SYMBOL_COLUMNS} FROM symbols JOIN files ON files.id = symbols.file"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration in the index. The fields are columns of the table `symbols`.

    `start`, `end`, `named` (where its name begins) and `body` are byte offsets in its file. `n` is its position in the
    list of the file's declarations, `parent` is the position of the declaration around it (-1 for none). `line` counts
    from 0.
    """

    path: str
    language: str
    file: int
    n: int
    parent: int
    kind: str
    name: str
    qualified: str
    start: int
    end: int
    named: int
    body: int
    line: int
    bases: tuple[str, ...]


def read_symbol_row(row: Row) -> Symbol:
    """Convert a row of `SYMBOL_COLUMNS` to a symbol."""
    # The table has one base per line.
    bases = tuple(row[-1].split("\n")) if row[-1] else ()
    return Symbol(*row[:-1], bases)  # pyright: ignore[reportCallIssue]


class SymbolTable:
    """The files and symbols of one index, for one question.

    Unsaved texts replace the indexed versions of their files. An unsaved text whose file is not in the index gets a
    negative file id.
    """

    def __init__(self, reader: DatabaseReader, unsaved: Mapping[str, UnsavedText]) -> None:
        """Create the table.

        Args:
            reader: The database of the index.
            unsaved: The unsaved texts by their paths in the workspace folder.
        """
        self.reader = reader
        self._files: dict[str, tuple[int, str] | None] = {}
        self.unsaved: dict[int, tuple[str, UnsavedText]] = {}
        """The path and the text of each unsaved file, by file id."""
        for n, (path, text) in enumerate(unsaved.items()):
            indexed = self.find_file(path)
            file = indexed[0] if indexed else -2 - n
            self._files[path] = file, text.language
            self.unsaved[file] = path, text

    def find_file(self, path: str) -> tuple[int, str] | None:
        """Return the id and the language of a file, or None if it is not in the index."""
        if path not in self._files:
            rows = self.reader.rows("SELECT id, language FROM files WHERE path = ?", (path,))
            self._files[path] = rows[0] if rows else None  # type: ignore[assignment]
        return self._files[path]

    def find_paths_named(self, stems: Collection[str]) -> list[str]:
        """Return the paths of the files whose name without the last suffix is one of these."""
        found: set[str] = set()
        for stem in stems:
            pattern = "*" + "".join(f"[{char}]" if char in "*?[" else char for char in stem) + ".*"
            found.update(path for (path,) in self.reader.rows("SELECT path FROM files WHERE path GLOB ?", (pattern,)))
        return sorted(path for path in found if PurePosixPath(path).stem in stems)

    def find_paths_below(self, folder: str) -> list[str]:
        """Return the paths of the files in a folder and in its subfolders. An empty text is the workspace folder."""
        prefix = f"{folder}/" if folder else ""
        # the paths with a prefix lie between it and the prefix with its last character raised
        end = f"{folder}0" if folder else "\U0010ffff"
        rows = self.reader.rows("SELECT path FROM files WHERE path >= ? AND path < ? ORDER BY path", (prefix, end))
        return [path for (path,) in rows]

    def find_symbol(self, path: str, qualified: str) -> Symbol | None:
        """Return the first declaration of a file with this qualified name."""
        file = entry[0] if (entry := self.find_file(path)) else -1
        symbols = self.select(
            "file = ? AND qualified = ? ORDER BY n LIMIT 1",
            (file, qualified),
            lambda symbol: symbol.file == file and symbol.qualified == qualified,
        )
        return symbols[0] if symbols else None

    def find_qualified(self, name: str) -> list[Symbol]:
        """Return the symbols whose qualified name is `name` or ends with it: `Cart.total` matches `shop.Cart.total`."""
        last = name.rpartition(".")[2]
        symbols = self.select("name = ? ORDER BY path, n", (last,), lambda symbol: symbol.name == last)
        return [symbol for symbol in symbols if f".{symbol.qualified}".endswith(f".{name}")]

    def find_by_name(self, name: str, limit: int, kinds: Collection[str] = (), language: str = "") -> list[Symbol]:
        """Return the first `limit` symbols with this name, ordered by path.

        Args:
            name: The last part of the qualified name.
            limit: The largest number of symbols.
            kinds: The kinds of symbols to return; empty for all.
            language: The language id; empty for all.
        """
        kind_condition = f"AND kind IN ({placeholders(len(kinds))})" if kinds else ""
        symbols = self.select(
            f"name = ? {kind_condition} {'AND language = ?' if language else ''} ORDER BY path, n LIMIT ?",
            (name, *kinds, *([language] if language else ()), limit),
            lambda symbol: (
                symbol.name == name and (not kinds or symbol.kind in kinds) and language in ("", symbol.language)
            ),
        )
        return sorted(symbols, key=lambda symbol: (symbol.path, symbol.n))[:limit]

    def find_members(self, symbol: Symbol) -> list[Symbol]:
        """Return the direct members of a symbol, also those outside of it (`func (c *Circle) Area`, `impl Circle`)."""
        members = self.select(
            "file = ? AND parent = ? ORDER BY n",
            (symbol.file, symbol.n),
            lambda member: member.file == symbol.file and member.parent == symbol.n,
        )
        if find_language(symbol.language).declarations.members_outside_types:
            prefix = f"{symbol.qualified}."
            members += self.select(
                "substr(qualified, 1, ?) = ? AND name = substr(qualified, ?) AND file IN "
                "(SELECT id FROM files WHERE language = ?) AND NOT (file = ? AND parent = ?)",
                (len(prefix), prefix, len(prefix) + 1, symbol.language, symbol.file, symbol.n),
                lambda member: (
                    member.qualified == prefix + member.name
                    and member.language == symbol.language
                    and (member.file, member.parent) != (symbol.file, symbol.n)
                ),
            )
        return members

    def find_mentions(self, name: str) -> Iterator[tuple[str, Symbol | None, str]]:
        """Yield the path, the symbol (None outside of declarations) and the text of chunks that may contain a name.

        At most `MAX_MENTIONS` chunks are read. The texts are those of the index, also for unsaved files.
        """
        rows = self.reader.rows(
            "SELECT path, file, symbol, text FROM texts JOIN chunks ON chunks.id = texts.rowid "
            "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
            ('text: "' + name.replace('"', "") + '"', MAX_MENTIONS),
        )
        for path, file, n, text in rows:
            symbol_rows = self.reader.rows(f"{SELECT_SYMBOLS} WHERE file = ? AND n = ?", (file, n)) if n >= 0 else []
            symbol = read_symbol_row(symbol_rows[0]) if symbol_rows else None
            yield path, self.find_symbol(path, symbol.qualified) if symbol and file in self.unsaved else symbol, text

    def list_symbols(self, file: int) -> list[Symbol]:
        """Return all symbols of a file in their order."""
        return self.select("file = ? ORDER BY n", (file,), lambda symbol: symbol.file == file)

    def list_outermost(self, file: int) -> list[Symbol]:
        """Return the symbols of a file that are in no other declaration."""
        return self.select(
            "file = ? AND parent = -1 ORDER BY n", (file,), lambda symbol: symbol.file == file and symbol.parent < 0
        )

    def list_namespaces(self, file: int) -> frozenset[str]:
        """Return the qualified names of the namespaces that a file declares."""
        namespaces = self.select(
            "file = ? AND kind = 'namespace'",
            (file,),
            lambda symbol: symbol.file == file and symbol.kind == "namespace",
        )
        return frozenset(symbol.qualified for symbol in namespaces)

    def find_top_level(self, name: str, file: int | None = None) -> list[Symbol]:
        """Return the symbols with this name outside of declarations other than namespaces, in one file or all files."""
        if file is None:
            return self.select(
                f"name = ? AND {TOP_LEVEL_SQL}",
                (name,),
                lambda symbol: symbol.name == name and self._is_top_level(symbol),
            )
        return self.select(
            f"file = ? AND name = ? AND {TOP_LEVEL_SQL} ORDER BY n",
            (file, name),
            lambda symbol: symbol.file == file and symbol.name == name and self._is_top_level(symbol),
        )

    def select(self, condition: str, arguments: Sequence[Any], matches: Callable[[Symbol], bool]) -> list[Symbol]:
        """Return the symbols that a condition selects.

        Args:
            condition: What follows `WHERE` in SQL. It is applied to saved files.
            arguments: The values for the placeholders of the condition.
            matches: The same condition as a function. It is applied to the symbols of unsaved texts.
        """
        is_saved = f"file NOT IN ({placeholders(len(self.unsaved))})"
        rows = self.reader.rows(f"{SELECT_SYMBOLS} WHERE {is_saved} AND {condition}", (*self.unsaved, *arguments))
        return [*map(read_symbol_row, rows), *(filter(matches, self._unsaved_symbols) if self.unsaved else ())]

    def _is_top_level(self, symbol: Symbol) -> bool:
        """Return the value of `TOP_LEVEL_SQL` for a symbol of an unsaved text."""
        return self.unsaved[symbol.file][1].is_top_level(symbol.n)

    @cached_property
    def _unsaved_symbols(self) -> list[Symbol]:
        return [symbol for file, (path, text) in self.unsaved.items() for symbol in _symbols_of_text(file, path, text)]


def _symbols_of_text(file: int, path: str, text: UnsavedText) -> Iterator[Symbol]:
    for n, (declaration, name) in enumerate(zip(text.declarations, text.qualified_names, strict=True)):
        yield Symbol(
            *(path, text.language, file, n, declaration.parent, declaration.kind, declaration.name, name),
            *declaration[2:7],
            declaration.bases,
        )
