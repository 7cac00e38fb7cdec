"""Where what a cursor is on is declared, and where else it is meant: a best effort, for where nobody knows better."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.harness.symbol_queries import Spot, open_texts
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.index.graph.name_resolution import SourceText
    from lsp_harness.index.graph.reference_search import DeclarationKey
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.store.database import Reader
    from lsp_harness.syntax.tree import SyntaxTree


async def definition(harness: "Harness", snapshot: Snapshot, offset: int) -> list[Spot]:
    """The declarations of the name at a place."""
    return await _found(harness, snapshot, offset, lambda search: search.declarations())


async def references(harness: "Harness", snapshot: Snapshot, offset: int, *, declaration: bool) -> list[Spot]:
    """Where in the workspace folder the name at a place is meant; the `declaration` itself only where it is wanted."""
    found = await _found(harness, snapshot, offset, lambda search: search.references())
    return [spot for spot in found if declaration or spot.kind != DECLARATION]


DECLARATION, REFERENCE = "declaration", "reference"


async def _found(
    harness: "Harness", snapshot: Snapshot, offset: int, ask: "Callable[[_Search], list[Spot]]"
) -> list[Spot]:
    if snapshot.root is None or snapshot.document.is_binary:
        return []
    texts = {one.path: one.document for one in open_texts(harness) if one.root == snapshot.root} | {
        snapshot.path: snapshot.document
    }
    root, opened = snapshot.root, harness.services.indexes.opened(snapshot.document.uri)

    def read(reader: "Reader") -> list[Spot]:
        return ask(_Search(reader, root, texts, opened, snapshot.path, offset))

    return await harness.services.indexes.ask(snapshot.document.uri, read, [], slow=True)


@dataclass(frozen=True, slots=True)
class _Search:
    """For the name at `offset` of the text at `path`. `texts` are those that are open, `opened` what those of them say that were edited."""

    reader: "Reader"
    root: Path
    texts: dict[str, Document]
    opened: "Mapping[str, UnsavedText]"
    path: str
    offset: int

    def declarations(self) -> list[Spot]:
        """A spot for each."""
        keys, _ = self._targets()
        found: list[Spot] = []
        for path in dict.fromkeys(path for path, _ in keys):
            if read := self._read(path):
                found += (
                    self._spot(read.tree, path, at, name, DECLARATION) for at, name in read.declaring(keys).items()
                )
        return found

    def references(self) -> list[Spot]:
        """A spot for each, those of a file in its order."""
        from lsp_harness.index.graph.reference_search import find_offsets

        keys, name = self._targets()
        view, found = self._view(), list[Spot]()
        for path, names in sorted(self._calling(view, keys, name).items()) if keys else ():
            if read := self._read(path):
                places = {
                    at: called
                    for called in sorted(names)
                    for target in keys
                    for at in find_offsets(view, read.text, read.tree, called, target)
                }
                declaring = read.declaring(keys)
                found += (
                    self._spot(read.tree, path, at, called, DECLARATION if at in declaring else REFERENCE)
                    for at, called in sorted(places.items())
                )
        return found

    def _calling(self, view: "IndexView", keys: "Sequence[DeclarationKey]", name: str) -> dict[str, set[str]]:
        """The files that may mean one of these, and what they call it: those that lead to it come first, and there are so many at
        most, but for texts that are open."""
        from lsp_harness.index.graph.reference_search import MAX_FILES, find_files_with_name
        from lsp_harness.index.graph.symbol_graph import MAX_IMPORT_HOPS, find_candidate_files

        found: dict[str, set[str]] = {}
        own = {name, *(qualified.rpartition(".")[2] for _, qualified in keys)}
        for symbol in filter(None, (view.symbols.find_symbol(*key) for key in keys)):
            for path, names in find_candidate_files(view, symbol, [symbol], MAX_FILES, MAX_IMPORT_HOPS).items():
                found.setdefault(path, set()).update(names)
        for each in sorted(own):
            for path, _, _ in find_files_with_name(self.reader, each):
                if path in found or len(found) < MAX_FILES:
                    found.setdefault(path, set()).add(each)
        said = own.union(*found.values())
        return found | {path: said | _aliases(view, path, said, keys) for path in self.texts}

    def _targets(self) -> "tuple[list[DeclarationKey], str]":
        from lsp_harness.index.graph.name_resolution import find_name_at, resolve_name
        from lsp_harness.index.graph.reference_search import declaration_key

        read = self._read(self.path)
        name = find_name_at(read.tree.data, self.offset) if read else None
        if read is None or name is None:
            return [], ""
        return list(
            dict.fromkeys(declaration_key(read.text, one) for one in resolve_name(self._view(), read.text, name))
        ), name.text

    def _view(self) -> "IndexView":
        from lsp_harness.index.index_view import IndexView

        return IndexView(self.reader, self.opened)

    def _read(self, path: str) -> "_Read | None":
        """A text of the folder, as it is open or else on disk; None for what is not there, or in no language we know."""
        from lsp_harness.index.graph.name_resolution import SourceText
        from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
        from lsp_harness.syntax.symbols.declarations import find_declarations
        from lsp_harness.syntax.tree import parse

        file = self.root / path
        try:
            tree = parse(self.texts.get(path) or Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES)))
        except FileError:
            return None
        return tree and _Read(
            tree,
            SourceText(path, tree.language.id, find_declarations(tree.language, tree.data, tree.root)[0], tree.data),
        )

    def _spot(self, tree: "SyntaxTree", path: str, at: int, name: str, kind: str) -> Spot:
        document = tree.document
        line = document.line_of(at)
        before = decode(document.data[document.line_starts[line] : at])
        return Spot(document.uri, self.root / path, line, before, name, kind, "")


def _aliases(view: "IndexView", path: str, names: "Collection[str]", keys: "Collection[DeclarationKey]") -> set[str]:
    """What the imports of a text call these declarations, which have such names elsewhere."""
    here = view.symbols.find_file(path)
    called = {one.local_name for one in view.imports.read_imports(here[0]) if one.name in names} if here else set[str]()
    return {
        name for name in called if any((one.path, one.qualified) in keys for one in view.find_definitions(path, name))
    }


@dataclass(frozen=True, slots=True)
class _Read:
    """A text with its tree."""

    tree: "SyntaxTree"
    text: "SourceText"

    def declaring(self, keys: "Collection[DeclarationKey]") -> dict[int, str]:
        """Where it declares one of these, by the byte its name begins at, and that name."""
        from lsp_harness.syntax.symbols.declarations import qualified_name

        declarations, path = self.text.declarations, self.text.path
        return {one.name_start: one.name for one in declarations if (path, qualified_name(declarations, one)) in keys}
