"""The open texts that the user edited, as the index needs them: an edited text counts before it is saved."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.text.document import Document
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot


@dataclass(slots=True)
class _IndexedText:
    """The part of an open document that caches its text in the form of the index (see `OpenDocument.part`)."""

    text: Document | None = None
    unsaved_text: UnsavedText | None = None

    def close(self) -> None:
        self.text = self.unsaved_text = None


class EditedTexts:
    """The unsaved texts of the documents that one client edits, for the index of each folder.

    Args:
        list_edited: Returns the edited documents that the index may see, with their place in the workspace.
    """

    def __init__(self, list_edited: Callable[[], Iterable[tuple[OpenDocument, Snapshot]]]) -> None:
        self._list_edited = list_edited

    def in_folder(self, root: Path) -> Mapping[str, UnsavedText]:
        """Return the edited texts of a workspace folder, by their paths in it."""
        texts: dict[str, UnsavedText] = {}
        for open_document, snapshot in self._list_edited():
            if snapshot.root != root or open_document.text.is_binary:
                continue
            part = open_document.part(_IndexedText)
            if part.text is not open_document.text:
                part.text, part.unsaved_text = open_document.text, _read(open_document)
            if part.unsaved_text:
                texts[Path(snapshot.path).as_posix()] = part.unsaved_text
        return texts


def _read(open_document: OpenDocument) -> UnsavedText | None:
    tree = open_document.syntax.tree(open_document.text)
    if tree is None or not tree.language.queries:
        return None
    import_spans = find_imports(tree)
    span = (import_spans[0].start, import_spans[-1].end) if import_spans else (0, 0)
    imports = find_declarations(tree.language, tree.data, tree.root, span)[1] if import_spans else []
    declarations = open_document.syntax.declarations(open_document.text)
    return UnsavedText(tree.language.id, _without_secrets(open_document.text), declarations, imports)


def _without_secrets(text: Document) -> bytes:
    """Return the bytes of a text, with spaces in place of the lines that hold a secret."""
    data = bytearray(text.data)
    for line in find_secret_lines(text):
        start, end = text.line_span(line)
        data[start:end] = b" " * (end - start)
    return bytes(data)
