"""Symbols of the workspace, for editors that have no better server.

Open texts count as they are, not as they are on disk.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.files.folders import find_path_inside, is_same_file
from lsp_harness.harness.services import Services
from lsp_harness.text.position import decode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.index.query.name_locations import CursorPlace, NameLocation
    from lsp_harness.index.query.symbol_lookup import Rank
    from lsp_harness.index.symbol_table import Symbol
    from lsp_harness.syntax.symbols.declarations import Declaration


@dataclass(frozen=True, slots=True)
class SymbolLocation:
    """A declaration of a symbol, or a place where it is used.

    Attributes:
        uri: The file. If it is open, this is the URI that the client gave it.
        file: The path of the file.
        line: The line of the name, counted from 0.
        line_prefix: The text before the name on that line.
        name: The name.
        kind: The kind of the symbol in `symbol_verbs`, or `DECLARATION` or `REFERENCE`.
        container: The qualified name of the symbol around it. Empty if there is none.
    """

    uri: str
    file: Path
    line: int
    line_prefix: str
    name: str
    kind: str
    container: str


DECLARATION, REFERENCE = "declaration", "reference"


RankedLocations = list[tuple["Rank", SymbolLocation]]


class SymbolVerbs:
    """The search for symbols by name, and from a place in a text.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
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
                ranked += await self._search_folder(query, folder.root)
        ranked.sort(key=lambda entry: (entry[0], entry[1].file, entry[1].line))
        return [location for _, location in ranked[:MAX_SYMBOLS]]

    async def definition(self, snapshot: Snapshot, offset: int) -> list[SymbolLocation]:
        """Return the declarations of the name at a byte offset."""
        if (place := self._place(snapshot, offset)) is None:
            return []
        locations = await self._services.index.query.declaration_locations(place)
        return [_name_location(place.root, location) for location in locations]

    async def references(self, snapshot: Snapshot, offset: int, *, include_declaration: bool) -> list[SymbolLocation]:
        """Return the places in the workspace folder where the name at a byte offset is used.

        Args:
            snapshot: The text.
            offset: The byte offset of the name.
            include_declaration: Whether the declaration itself is returned, too.
        """
        if (place := self._place(snapshot, offset)) is None:
            return []
        locations = await self._services.index.query.reference_locations(place)
        wanted = [location for location in locations if include_declaration or not location.is_declaration]
        return [_name_location(place.root, location) for location in wanted]

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

    async def _search_folder(self, query: str, root: Path) -> "RankedLocations":
        """Return the symbols of one workspace folder, without those of the open files."""
        open_paths = {snapshot.path for snapshot in self._services.open_files() if snapshot.root == root}
        # a workspace folder within this one has an index of its own
        inner = [
            path for other in self._services.workspace.roots if (path := find_path_inside(other, root)) and path.parts
        ]
        matches = await self._services.index.query.matching_symbols(root.as_uri(), query, open_paths)
        return [
            (match.rank, _indexed_location(root / match.symbol.path, match.symbol, match.text_before))
            for match in matches
            if not any(match.symbol.path.startswith(f"{folder}/") for folder in inner)
        ]

    def _place(self, snapshot: Snapshot, offset: int) -> "CursorPlace | None":
        """Return the place of a byte offset, or None if the text is in no workspace folder or is binary."""
        from lsp_harness.index.query.name_locations import CursorPlace

        root = snapshot.root
        if root is None or snapshot.document.is_binary:
            return None
        texts = {other.path: other.document for other in self._services.open_files() if other.root == root}
        texts[snapshot.path] = snapshot.document
        return CursorPlace(root, snapshot.path, offset, texts)


def _declared_location(snapshot: Snapshot, file: Path, declaration: "Declaration", qualified: str) -> SymbolLocation:
    document, start = snapshot.document, declaration.name_start
    line = document.line_of(start)
    prefix = decode(document.data[document.line_starts[line] : start])
    return SymbolLocation(
        document.uri, file, line, prefix, declaration.name, declaration.kind, _find_container(qualified)
    )


def _indexed_location(file: Path, symbol: "Symbol", line_prefix: str) -> SymbolLocation:
    container = _find_container(symbol.qualified)
    return SymbolLocation(file.as_uri(), file, symbol.line, line_prefix, symbol.name, symbol.kind, container)


def _name_location(root: Path, location: "NameLocation") -> SymbolLocation:
    kind = DECLARATION if location.is_declaration else REFERENCE
    file = root / location.path
    return SymbolLocation(location.uri, file, location.line, location.text_before, location.name, kind, "")


def _find_container(qualified: str) -> str:
    """Return the qualified name of the symbol around a symbol."""
    return qualified.rpartition(".")[0]
