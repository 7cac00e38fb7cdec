"""Parsed files of an index, put together from its chunks.

Spaces stand where a secret was. Line ends stand for the blank bytes between chunks.
"""

from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.graph.name_resolution import SourceText
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

ENCLOSING_KINDS = TYPE_KINDS | {"function", "method", "constructor", "macro", "module", "namespace"}
"""Kinds of declarations that contain code."""
MAX_SOURCE_BYTES = 50_000_000


@dataclass(frozen=True)
class IndexedSource:
    """A file with its syntax tree and its symbols. Byte offsets are those of the file on disk."""

    text: SourceText
    tree: SyntaxTree
    symbols: tuple[Symbol, ...]

    def find_enclosing(self, offset: int) -> Symbol | None:
        """Return the innermost function or type that contains a byte offset."""
        enclosing = [
            symbol for symbol in self.symbols if symbol.kind in ENCLOSING_KINDS and symbol.start <= offset < symbol.end
        ]
        return enclosing[-1] if enclosing else None

    def find_line(self, offset: int) -> int:
        """Return the line of a byte offset, counted from 0.

        The line is counted from the previous declaration, as there may be more blank lines between chunks than on disk.
        """
        data = self.tree.data
        previous = next((symbol for symbol in reversed(self.symbols) if symbol.start <= offset), None)
        if previous is None:
            return data.count(b"\n", 0, offset)
        if previous.named <= offset:
            return previous.line + data.count(b"\n", previous.named, offset)
        return previous.line - data.count(b"\n", offset, previous.named)

    def read_line(self, offset: int) -> str:
        """Return the stripped text of the line at a byte offset."""
        document = self.tree.document
        return decode(document.line(document.line_of(offset))).strip()

    def is_in_import(self, offset: int) -> bool:
        """Return whether a byte offset is in an import at the top of the file."""
        return any(span.start <= offset < span.end for span in self._imports)

    @cached_property
    def _imports(self) -> list[Span]:
        return find_imports(self.tree)


class Sources:
    """The files that are parsed for one question."""

    def __init__(self, view: IndexView, byte_limit: int = MAX_SOURCE_BYTES) -> None:
        """Create an empty cache of files.

        Args:
            view: The index.
            byte_limit: The largest sum of the sizes of all parsed files.
        """
        self.view = view
        self._bytes_left = byte_limit
        self._cache: dict[str, IndexedSource | None] = {}

    def load(self, path: str) -> IndexedSource | None:
        """Return a file, or None if it is not in the index, has no known language, or exceeds the byte limit."""
        if path not in self._cache:
            self._cache[path] = self._parse(path)
        return self._cache[path]

    def _parse(self, path: str) -> IndexedSource | None:
        file = self.view.symbols.find_file(path)
        data = self.view.texts.read_file(file[0]) if file else b""
        if file is None or len(data) > self._bytes_left:
            return None
        self._bytes_left -= len(data)
        tree = parse(Document.from_text(f"file:///{path}", data, language=file[1]))
        if tree is None:
            return None
        symbols = tuple(self.view.symbols.list_symbols(file[0]))
        return IndexedSource(SourceText(path, file[1], _to_declarations(symbols), tree.data), tree, symbols)


def _to_declarations(symbols: tuple[Symbol, ...]) -> list[Declaration]:
    declarations: list[Declaration] = []
    for symbol in symbols:
        prefix = f"{symbols[symbol.parent].qualified}." if symbol.parent >= 0 else ""
        owner = symbol.qualified.removeprefix(prefix)[: -len(symbol.name)].rstrip(".")
        declarations.append(
            Declaration(
                *(
                    symbol.kind,
                    symbol.name,
                    symbol.start,
                    symbol.end,
                    symbol.named,
                    symbol.body,
                    symbol.line,
                    symbol.parent,
                    owner,
                    symbol.bases,
                )
            )
        )
    return declarations
