"""Files as the index has them, put together from their chunks: where a secret was there are spaces, and line ends for each byte that is
blank between chunks."""

from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.graph.name_resolution import SourceText
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.scope import imports
from lsp_harness.syntax.symbols.declarations import TYPES, Declaration
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

ENCLOSING_KINDS = TYPES | {"function", "method", "constructor", "macro", "module", "namespace"}
"""Kinds of what code is in."""
MAX_SOURCE_BYTES = 50_000_000


@dataclass(frozen=True)
class Source:
    """A file with its tree and its declarations, at the bytes they have on disk."""

    text: SourceText
    tree: SyntaxTree
    symbols: tuple[Symbol, ...]

    def find_enclosing(self, offset: int) -> Symbol | None:
        """The innermost function or type that a byte is in."""
        enclosing = [
            symbol for symbol in self.symbols if symbol.kind in ENCLOSING_KINDS and symbol.start <= offset < symbol.end
        ]
        return enclosing[-1] if enclosing else None

    def find_line(self, offset: int) -> int:
        """Counted from 0, and from the declaration before: between chunks there may be more blank lines here than on disk."""
        data = self.tree.data
        previous = next((symbol for symbol in reversed(self.symbols) if symbol.start <= offset), None)
        if previous is None:
            return data.count(b"\n", 0, offset)
        if previous.named <= offset:
            return previous.line + data.count(b"\n", previous.named, offset)
        return previous.line - data.count(b"\n", offset, previous.named)

    def read_line(self, offset: int) -> str:
        """The text of the line of a byte, without the blanks around it."""
        document = self.tree.document
        return decode(document.line(document.line_of(offset))).strip()

    def is_in_import(self, offset: int) -> bool:
        """Whether a byte is in an import at the top of the file."""
        return any(span.start <= offset < span.end for span in self._imports)

    @cached_property
    def _imports(self) -> list[Span]:
        return imports(self.tree)


class Sources:
    """The files of an index that are read for one question, of `most` bytes together."""

    def __init__(self, view: IndexView, byte_limit: int = MAX_SOURCE_BYTES) -> None:
        self.view = view
        self._bytes_left = byte_limit
        self._cache: dict[str, Source | None] = {}

    def load(self, path: str) -> Source | None:
        """None for what is not in the index, or in no language we know, or more than may be read."""
        if path not in self._cache:
            self._cache[path] = self._parse(path)
        return self._cache[path]

    def _parse(self, path: str) -> Source | None:
        file = self.view.symbols.find_file(path)
        data = self.view.texts.read_file(file[0]) if file else b""
        if file is None or len(data) > self._bytes_left:
            return None
        self._bytes_left -= len(data)
        tree = parse(Document.of(f"file:///{path}", data, language=file[1]))
        if tree is None:
            return None
        symbols = tuple(self.view.symbols.list_symbols(file[0]))
        return Source(SourceText(path, file[1], _to_declarations(symbols), tree.data), tree, symbols)


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
