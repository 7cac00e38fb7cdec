"""The declarations of the name at a place, and the other places that refer to them.

The text of the place is read as it is open, and other files as they are open or else on disk. If imports, scopes and
types do not lead to a declaration, members with the same name are returned as well.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.index.graph.name_resolution import SourceText, find_name_at, resolve_name
from lsp_harness.index.graph.reference_search import (
    MAX_FILES,
    DeclarationKey,
    find_files_with_name,
    find_offsets,
    make_declaration_key,
)
from lsp_harness.index.graph.symbol_graph import MAX_IMPORT_HOPS, find_candidate_files
from lsp_harness.index.index_view import IndexView
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode


@dataclass(frozen=True, slots=True)
class CursorPlace:
    """A place in an open text of a workspace folder.

    Attributes:
        root: The workspace folder.
        path: The path of the text in it.
        offset: The place, in bytes.
        texts: The open texts of the folder by their paths, this one included.
    """

    root: Path
    path: str
    offset: int
    texts: Mapping[str, Document]

    @property
    def uri(self) -> str:
        """The URI of the text."""
        return self.texts[self.path].uri


@dataclass(frozen=True, slots=True)
class NameLocation:
    """An occurrence of a name.

    Attributes:
        uri: The URI of the file, as the client wrote it if the file is open.
        path: The path of the file in the workspace folder.
        line: The line, counted from 0.
        text_before: The text before the name on its line.
        name: The name.
        is_declaration: Whether the name is declared here.
    """

    uri: str
    path: str
    line: int
    text_before: str
    name: str
    is_declaration: bool


def find_declaration_locations(view: IndexView, place: CursorPlace) -> list[NameLocation]:
    """Return the declarations of the name at a place."""
    search = _PlaceSearch(view, place)
    keys, _ = search.find_targets()
    files = filter(None, map(search.read, dict.fromkeys(path for path, _ in keys)))
    return [
        _name_location(file, offset, name, is_declaration=True)
        for file in files
        for offset, name in file.find_declared(keys).items()
    ]


def find_reference_locations(view: IndexView, place: CursorPlace) -> list[NameLocation]:
    """Return all occurrences of the name at a place, the declarations included, those of a file in its order."""
    search = _PlaceSearch(view, place)
    keys, name = search.find_targets()
    if not keys:
        return []
    places: list[NameLocation] = []
    for path, names in sorted(search.find_files(keys, name).items()):
        file = search.read(path)
        if file is None:
            continue
        occurrences = {
            offset: local_name
            for local_name in sorted(names)
            for key in keys
            for offset in find_offsets(view, file.text, file.tree, local_name, key)
        }
        declared = file.find_declared(keys)
        places += (
            _name_location(file, offset, local_name, is_declaration=offset in declared)
            for offset, local_name in sorted(occurrences.items())
        )
    return places


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """A file with its tree and its declarations."""

    tree: SyntaxTree
    text: SourceText

    def find_declared(self, keys: Collection[DeclarationKey]) -> dict[int, str]:
        """Return the names of the declarations with these keys in the file, by the byte offset of the name."""
        declarations, path = self.text.declarations, self.text.path
        return {
            item.name_start: item.name for item in declarations if (path, qualified_name(declarations, item)) in keys
        }


@dataclass(frozen=True, slots=True)
class _PlaceSearch:
    view: IndexView
    place: CursorPlace

    def find_targets(self) -> tuple[list[DeclarationKey], str]:
        """Return the keys of the declarations that the name at the place may mean, and the name."""
        file = self.read(self.place.path)
        name = find_name_at(file.tree.data, self.place.offset) if file else None
        if file is None or name is None:
            return [], ""
        keys = (make_declaration_key(file.text, meaning) for meaning in resolve_name(self.view, file.text, name))
        return list(dict.fromkeys(keys)), name.text

    def find_files(self, keys: Sequence[DeclarationKey], name: str) -> dict[str, set[str]]:
        """Return the files that may refer to the declarations with these keys, and the names that each file uses.

        At most `MAX_FILES` files come from the index, first those that imports connect with a declaration. All open
        texts are returned.
        """
        names_by_path: dict[str, set[str]] = {}
        own_names = {name, *(qualified.rpartition(".")[2] for _, qualified in keys)}
        for symbol in filter(None, (self.view.symbols.find_symbol(*key) for key in keys)):
            for path, names in find_candidate_files(self.view, symbol, [symbol], MAX_FILES, MAX_IMPORT_HOPS).items():
                names_by_path.setdefault(path, set()).update(names)
        for own_name in sorted(own_names):
            for path, _, _ in find_files_with_name(self.view.reader, own_name):
                if path in names_by_path or len(names_by_path) < MAX_FILES:
                    names_by_path.setdefault(path, set()).add(own_name)
        all_names = own_names.union(*names_by_path.values())
        open_texts = {path: all_names | {*self._find_aliases(path, all_names, keys)} for path in self.place.texts}
        return names_by_path | open_texts

    def read(self, path: str) -> _ParsedFile | None:
        """Return a file of the folder, or None if it does not exist or its language has no grammar."""
        file = self.place.root / path
        try:
            document = self.place.texts.get(path) or Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES))
        except FileError:
            return None
        tree = parse(document)
        if tree is None:
            return None
        declarations = find_declarations(tree.language, tree.data, tree.root)[0]
        return _ParsedFile(tree, SourceText(path, tree.language.id, declarations, tree.data))

    def _find_aliases(self, path: str, names: Collection[str], keys: Collection[DeclarationKey]) -> Iterator[str]:
        """Yield the aliases under which a file imports the declarations with these keys.

        `names` are the names of the declarations in other files.
        """
        file = self.view.symbols.find_file(path)
        imports = self.view.imports.read_imports(file[0]) if file else ()
        for alias in {imported.local_name for imported in imports if imported.name in names}:
            if any((symbol.path, symbol.qualified) in keys for symbol in self.view.find_definitions(path, alias)):
                yield alias


def _name_location(file: _ParsedFile, offset: int, name: str, *, is_declaration: bool) -> NameLocation:
    document = file.tree.document
    line = document.line_of(offset)
    text_before = decode(document.data[document.line_starts[line] : offset])
    return NameLocation(document.uri, file.text.path, line, text_before, name, is_declaration)
