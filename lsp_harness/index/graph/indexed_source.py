"""Files as the index has them, put together from their chunks: where a secret was there are spaces, and line ends for each byte that is
blank between chunks."""

from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.graph.name_resolution import Text
from lsp_harness.index.index_view import Symbol, View
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

AROUND = TYPE_KINDS | {"function", "method", "constructor", "macro", "module", "namespace"}
"""Kinds of what code is in."""
ALL = 50_000_000


@dataclass(frozen=True)
class Source:
    """A file with its tree and its declarations, at the bytes they have on disk."""

    text: Text
    tree: SyntaxTree
    symbols: tuple[Symbol, ...]

    def around(self, at: int) -> Symbol | None:
        """The innermost function or type that a byte is in."""
        inside = [one for one in self.symbols if one.kind in AROUND and one.start <= at < one.end]
        return inside[-1] if inside else None

    def line_of(self, at: int) -> int:
        """Counted from 0, and from the declaration before: between chunks there may be more blank lines here than on disk."""
        data = self.tree.data
        before = next((one for one in reversed(self.symbols) if one.start <= at), None)
        if before is None:
            return data.count(b"\n", 0, at)
        if before.named <= at:
            return before.line + data.count(b"\n", before.named, at)
        return before.line - data.count(b"\n", at, before.named)

    def line(self, at: int) -> str:
        """The text of the line of a byte, without the blanks around it."""
        document = self.tree.document
        return decode(document.line(document.line_of(at))).strip()

    def imported(self, at: int) -> bool:
        """Whether a byte is in an import at the top of the file."""
        return any(span.start <= at < span.end for span in self._imports)

    @cached_property
    def _imports(self) -> list[Span]:
        return find_imports(self.tree)


class Sources:
    """The files of an index that are read for one question, of `most` bytes together."""

    def __init__(self, view: View, most: int = ALL) -> None:
        self.view = view
        self._left = most
        self._read: dict[str, Source | None] = {}

    def of(self, path: str) -> Source | None:
        """None for what is not in the index, or in no language we know, or more than may be read."""
        if path not in self._read:
            self._read[path] = self._made(path)
        return self._read[path]

    def _made(self, path: str) -> Source | None:
        here = self.view.file(path)
        data = self.view.data(here[0]) if here else b""
        if here is None or len(data) > self._left:
            return None
        self._left -= len(data)
        tree = parse(Document.of(f"file:///{path}", data, language=here[1]))
        if tree is None:
            return None
        symbols = tuple(self.view.all(here[0]))
        return Source(Text(path, here[1], _declared(symbols), tree.data), tree, symbols)


def _declared(symbols: tuple[Symbol, ...]) -> list[Declaration]:
    found: list[Declaration] = []
    for one in symbols:
        around = f"{symbols[one.parent].qualified}." if one.parent >= 0 else ""
        owner = one.qualified.removeprefix(around)[: -len(one.name)].rstrip(".")
        found.append(
            Declaration(
                *(one.kind, one.name, one.start, one.end, one.named, one.body, one.line, one.parent, owner, one.bases)
            )
        )
    return found
