"""The open texts that were edited, as those who ask an index are told of them: what is there counts before it is saved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from lsp_harness.files.secrets import secret_lines
from lsp_harness.index.unsaved_text import Opened
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot


class OpenedTexts:
    """Of one front end: of those that are `edited`, what they say is read once for each version that somebody asks about."""

    def __init__(
        self,
        edited: Callable[[], Iterable[Snapshot]],
        tree: Callable[[Snapshot], SyntaxTree | None],
        declarations: Callable[[Snapshot], Sequence[Declaration]],
    ) -> None:
        self._edited = edited
        self._tree = tree
        self._declarations = declarations
        self._known: dict[str, tuple[Document, Opened | None]] = {}

    def of(self, root: Path) -> Mapping[str, Opened]:
        """Those of a workspace folder, by their paths there."""
        found: dict[str, Opened] = {}
        edited = list(self._edited())
        # those that are closed are forgotten
        uris = {one.document.uri for one in edited}
        self._known = {uri: text for uri, text in self._known.items() if uri in uris}
        for snapshot in edited:
            if snapshot.root != root or snapshot.document.binary:
                continue
            uri = snapshot.document.uri
            if uri not in self._known or self._known[uri][0] is not snapshot.document:
                self._known[uri] = snapshot.document, self._read(snapshot)
            if text := self._known[uri][1]:
                found[Path(snapshot.path).as_posix()] = text
        return found

    def _read(self, snapshot: Snapshot) -> Opened | None:
        tree = self._tree(snapshot)
        if tree is None or not tree.language.queries:
            return None
        at_top = find_imports(tree)
        within = (at_top[0].start, at_top[-1].end) if at_top else (0, 0)
        brought = find_declarations(tree.language, tree.data, tree.root, within)[1] if at_top else []
        return Opened(tree.language.id, _shown(snapshot.document), self._declarations(snapshot), brought)


def _shown(document: Document) -> bytes:
    """The text, with spaces for the lines that hold a secret."""
    data = bytearray(document.data)
    for line in secret_lines(document):
        start, end = document.line_span(line)
        data[start:end] = b" " * (end - start)
    return bytes(data)
