"""The declarations and the uses of the name at a place. This is a best effort, for editors that have no better server."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.harness.symbols.symbol_location import DECLARATION, REFERENCE, SymbolLocation
from lsp_harness.index.graph.name_resolution import SourceText, find_name_at, resolve_name
from lsp_harness.index.graph.reference_search import (
    MAX_FILES,
    DeclarationKey,
    declaration_key,
    find_files_with_name,
    find_offsets,
)
from lsp_harness.index.graph.symbol_graph import MAX_IMPORT_HOPS, find_candidate_files
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.store.database import Reader
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode


@dataclass(frozen=True, slots=True)
class NameSearch:
    """A search that starts at a name in a text.

    Attributes:
        reader: Reads the index of the workspace folder.
        root: The workspace folder.
        texts: The open texts of the folder, by path.
        unsaved: What the edited texts among them declare and import, by path.
        path: The path of the text.
        offset: The byte offset of the name.
    """

    reader: Reader
    root: Path
    texts: Mapping[str, Document]
    unsaved: Mapping[str, UnsavedText]
    path: str
    offset: int

    def declarations(self) -> list[SymbolLocation]:
        """Return the declarations of the name."""
        keys, _ = self._resolve()
        locations: list[SymbolLocation] = []
        for path in dict.fromkeys(path for path, _ in keys):
            if source := self._read(path):
                declared = source.find_declared(keys).items()
                locations += (self._location(source.tree, path, start, name, DECLARATION) for start, name in declared)
        return locations

    def references(self) -> list[SymbolLocation]:
        """Return the uses of the name and its declarations, those of one file in their order."""
        keys, name = self._resolve()
        if not keys:
            return []
        view, locations = self._view(), list[SymbolLocation]()
        for path, names in sorted(self._find_files(view, keys, name).items()):
            if source := self._read(path):
                offsets = {
                    offset: local_name
                    for local_name in sorted(names)
                    for key in keys
                    for offset in find_offsets(view, source.text, source.tree, local_name, key)
                }
                declared = source.find_declared(keys)
                locations += (
                    self._location(
                        source.tree, path, offset, local_name, DECLARATION if offset in declared else REFERENCE
                    )
                    for offset, local_name in sorted(offsets.items())
                )
        return locations

    def _find_files(self, view: IndexView, keys: Sequence[DeclarationKey], name: str) -> dict[str, set[str]]:
        """Return the files that may use one of these declarations, and the names that they use for it.

        Files that lead to it by imports come first. There are at most `MAX_FILES`, and all open texts.
        """
        files: dict[str, set[str]] = {}
        own_names = {name, *(qualified.rpartition(".")[2] for _, qualified in keys)}
        for symbol in filter(None, (view.symbols.find_symbol(*key) for key in keys)):
            for path, names in find_candidate_files(view, symbol, [symbol], MAX_FILES, MAX_IMPORT_HOPS).items():
                files.setdefault(path, set()).update(names)
        for own_name in sorted(own_names):
            for path, _, _ in find_files_with_name(self.reader, own_name):
                if path in files or len(files) < MAX_FILES:
                    files.setdefault(path, set()).add(own_name)
        names = own_names.union(*files.values())
        return files | {path: names | _find_aliases(view, path, names, keys) for path in self.texts}

    def _resolve(self) -> tuple[list[DeclarationKey], str]:
        """Return the declarations that the name at the place may mean, and the name."""
        source = self._read(self.path)
        name = find_name_at(source.tree.data, self.offset) if source else None
        if source is None or name is None:
            return [], ""
        symbols = resolve_name(self._view(), source.text, name)
        return list(dict.fromkeys(declaration_key(source.text, symbol) for symbol in symbols)), name.text

    def _view(self) -> IndexView:
        return IndexView(self.reader, self.unsaved)

    def _read(self, path: str) -> "_ParsedText | None":
        """Return an open text, or the text on disk. None if there is no such file, or no grammar for it."""
        file = self.root / path
        try:
            tree = parse(self.texts.get(path) or Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES)))
        except FileError:
            return None
        if tree is None:
            return None
        declarations = find_declarations(tree.language, tree.data, tree.root)[0]
        return _ParsedText(tree, SourceText(path, tree.language.id, declarations, tree.data))

    def _location(self, tree: SyntaxTree, path: str, offset: int, name: str, kind: str) -> SymbolLocation:
        document = tree.document
        line = document.line_of(offset)
        prefix = decode(document.data[document.line_starts[line] : offset])
        return SymbolLocation(document.uri, self.root / path, line, prefix, name, kind, "")


def _find_aliases(view: IndexView, path: str, names: Collection[str], keys: Collection[DeclarationKey]) -> set[str]:
    """Return the names that the imports of a text give to declarations which have such names elsewhere."""
    file = view.symbols.find_file(path)
    imports = view.imports.read_imports(file[0]) if file else ()
    local_names = {imported.local_name for imported in imports if imported.name in names}
    return {
        name
        for name in local_names
        if any((symbol.path, symbol.qualified) in keys for symbol in view.find_definitions(path, name))
    }


@dataclass(frozen=True, slots=True)
class _ParsedText:
    """A text with its tree."""

    tree: SyntaxTree
    text: SourceText

    def find_declared(self, keys: Collection[DeclarationKey]) -> dict[int, str]:
        """Return the names that this text declares of these, by the byte offset of the name."""
        declarations, path = self.text.declarations, self.text.path
        return {
            declaration.name_start: declaration.name
            for declaration in declarations
            if (path, qualified_name(declarations, declaration)) in keys
        }
