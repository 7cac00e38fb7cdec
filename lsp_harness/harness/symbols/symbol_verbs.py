"""Symbols of the workspace, for editors that have no better server. Open texts count as they are, not as they are on disk."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.files.folders import is_same_file, path_inside
from lsp_harness.harness.services import Services
from lsp_harness.harness.symbols.symbol_location import DECLARATION, SymbolLocation
from lsp_harness.text.position import decode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.harness.symbols.name_search import NameSearch
    from lsp_harness.index.query.symbol_lookup import Rank
    from lsp_harness.index.symbol_table import Symbol
    from lsp_harness.store.database import Reader
    from lsp_harness.syntax.symbols.declarations import Declaration

RankedLocations = list[tuple["Rank", SymbolLocation]]


class SymbolVerbs:
    """The search for symbols by name, and from a place in a text.

    Args:
        services: The shared parts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def search(self, query: str) -> list[SymbolLocation]:
        """Return the symbols of all workspace folders whose names fit what the user typed, the best first."""
        from lsp_harness.index.query.symbol_lookup import MAX_SYMBOLS

        ranked = self._search_open_files(query)
        folders = self._services.index.folder_indexes.folders
        for number, folder in enumerate(folders):
            # one folder may be open by two names
            if not any(is_same_file(folder.root, earlier.root) for earlier in folders[:number]):
                ranked += await folder.ask(self._folder_search(query, folder.root), [], slow=True)
        ranked.sort(key=lambda entry: (entry[0], entry[1].file, entry[1].line))
        return [location for _, location in ranked[:MAX_SYMBOLS]]

    async def definition(self, snapshot: Snapshot, offset: int) -> list[SymbolLocation]:
        """Return the declarations of the name at a byte offset."""
        return await self._search_from(snapshot, offset, lambda search: search.declarations())

    async def references(self, snapshot: Snapshot, offset: int, *, include_declaration: bool) -> list[SymbolLocation]:
        """Return the places in the workspace folder where the name at a byte offset is used.

        Args:
            snapshot: The text.
            offset: The byte offset of the name.
            include_declaration: Whether the declaration itself is returned, too.
        """
        locations = await self._search_from(snapshot, offset, lambda search: search.references())
        return [location for location in locations if include_declaration or location.kind != DECLARATION]

    def _search_open_files(self, query: str) -> "RankedLocations":
        from lsp_harness.index.query.symbol_lookup import rank_symbol
        from lsp_harness.syntax.symbols.declarations import qualified_name

        ranked: RankedLocations = []
        for snapshot in self._services.open_files():
            declarations = self._services.documents.declarations(snapshot.document)
            for declaration in declarations:
                name = qualified_name(declarations, declaration)
                rank = rank_symbol(query, declaration.name, name, declaration.kind)
                if rank and snapshot.file:
                    ranked.append((rank, _declared_location(snapshot, snapshot.file, declaration, name)))
        return ranked

    def _folder_search(self, query: str, root: Path) -> "Callable[[Reader], RankedLocations]":
        """Return the question for the index of one workspace folder."""
        from lsp_harness.index.index_view import IndexView
        from lsp_harness.index.query.symbol_lookup import find_symbols

        open_paths = {snapshot.path for snapshot in self._services.open_files() if snapshot.root == root}
        # a workspace folder within this one has an index of its own
        inner = [path for other in self._services.workspace.roots if (path := path_inside(other, root)) and path.parts]

        def search(reader: "Reader") -> "RankedLocations":
            view = IndexView(reader)
            return [
                (rank, _indexed_location(root / symbol.path, symbol, view.texts.read_line_start(symbol)))
                for rank, symbol in find_symbols(reader, query, open_paths)
                if not any(symbol.path.startswith(f"{folder}/") for folder in inner)
            ]

        return search

    async def _search_from(
        self, snapshot: Snapshot, offset: int, search: "Callable[[NameSearch], Sequence[SymbolLocation]]"
    ) -> list[SymbolLocation]:
        """Return what a search finds that starts at the name at a byte offset."""
        from lsp_harness.harness.symbols.name_search import NameSearch

        root = snapshot.root
        if root is None or snapshot.document.is_binary:
            return []
        texts = {other.path: other.document for other in self._services.open_files() if other.root == root}
        texts[snapshot.path] = snapshot.document
        indexes, uri = self._services.index.folder_indexes, snapshot.document.uri
        unsaved = indexes.opened(uri)

        def read(reader: "Reader") -> list[SymbolLocation]:
            return [*search(NameSearch(reader, root, texts, unsaved, snapshot.path, offset))]

        return await indexes.ask(uri, read, [], slow=True)


def _declared_location(snapshot: Snapshot, file: Path, declaration: "Declaration", qualified: str) -> SymbolLocation:
    document, start = snapshot.document, declaration.name_start
    line = document.line_of(start)
    prefix = decode(document.data[document.line_starts[line] : start])
    return SymbolLocation(document.uri, file, line, prefix, declaration.name, declaration.kind, _container(qualified))


def _indexed_location(file: Path, symbol: "Symbol", line_prefix: str) -> SymbolLocation:
    container = _container(symbol.qualified)
    return SymbolLocation(file.as_uri(), file, symbol.line, line_prefix, symbol.name, symbol.kind, container)


def _container(qualified: str) -> str:
    """Return the qualified name of the symbol around a symbol."""
    return qualified.rpartition(".")[0]
