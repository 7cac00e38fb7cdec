"""Where what a cursor is on is declared, and where else it is meant: a best effort, for where nobody knows better."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.harness.symbols import Spot
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.index.references import Key
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
    if snapshot.root is None or snapshot.document.binary:
        return []
    open_texts = [harness.snapshot_of(document) for document in harness.documents]
    texts = {one.path: one.document for one in open_texts if one.root == snapshot.root} | {
        snapshot.path: snapshot.document
    }
    root = snapshot.root

    def read(reader: "Reader") -> list[Spot]:
        return ask(_Search(reader, root, texts, snapshot.path, offset))

    return await harness.indexes.ask(snapshot.document.uri, read, [], slow=True)


@dataclass(frozen=True, slots=True)
class _Search:
    """For the name at `offset` of the text at `path`. `texts` are those that are open."""

    reader: "Reader"
    root: Path
    texts: dict[str, Document]
    path: str
    offset: int

    def declarations(self) -> list[Spot]:
        """A spot for each."""
        keys, _ = self._targets()
        found: list[Spot] = []
        for path in dict.fromkeys(path for path, _ in keys):
            if tree := self._tree(path):
                found += self._declared(tree, path, {qualified for at, qualified in keys if at == path})
        return found

    def references(self) -> list[Spot]:
        """A spot for each, those of a file in its order."""
        from lsp_harness.index.references import occurring, referring
        from lsp_harness.index.resolve import Text
        from lsp_harness.index.view import View
        from lsp_harness.syntax.declarations import declared

        keys, name = self._targets()
        view, found = View(self.reader), list[Spot]()
        declarations = {(spot.file, spot.line, spot.before) for spot in self.declarations()}
        for path in sorted({*occurring(self.reader, name), *self.texts}) if keys else ():
            tree = self._tree(path)
            if tree is None:
                continue
            text = Text(path, tree.language.id, declared(tree.language, tree.data, tree.root)[0])
            places = sorted({at for target in keys for at in referring(view, text, tree, name, target)})
            spots = [self._spot(tree, path, at, name, REFERENCE) for at in places]
            found += (
                Spot(spot.file, spot.line, spot.before, spot.name, DECLARATION, "")
                if (spot.file, spot.line, spot.before) in declarations
                else spot
                for spot in spots
            )
        return found

    def _targets(self) -> "tuple[list[Key], str]":
        from lsp_harness.index.references import key
        from lsp_harness.index.resolve import Text, meant, name_at
        from lsp_harness.index.view import View
        from lsp_harness.syntax.declarations import declared

        tree = self._tree(self.path)
        name = name_at(tree.data, self.offset) if tree else None
        if tree is None or name is None:
            return [], ""
        text = Text(self.path, tree.language.id, declared(tree.language, tree.data, tree.root)[0])
        return list(dict.fromkeys(key(text, one) for one in meant(View(self.reader), text, name))), name.text

    def _declared(self, tree: "SyntaxTree", path: str, wanted: set[str]) -> list[Spot]:
        from lsp_harness.syntax.declarations import declared, qualified

        listed, _ = declared(tree.language, tree.data, tree.root)
        return [
            self._spot(tree, path, one.named, one.name, DECLARATION)
            for one in listed
            if qualified(listed, one) in wanted
        ]

    def _tree(self, path: str) -> "SyntaxTree | None":
        from lsp_harness.syntax.tree import parse

        if path in self.texts:
            return parse(self.texts[path])
        file = self.root / path
        try:
            return parse(Document.of(file.as_uri(), file.read_bytes()))
        except OSError:
            return None

    def _spot(self, tree: "SyntaxTree", path: str, at: int, name: str, kind: str) -> Spot:
        document = tree.document
        line = document.line_of(at)
        return Spot(self.root / path, line, decode(document.data[document.starts[line] : at]), name, kind, "")
