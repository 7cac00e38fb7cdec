"""The texts a client has open. The only mutable thing in this package."""

from collections.abc import Iterator

from lsp_harness.errors import NotOpen, Stale
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit


class Documents:
    """Open documents by URI; versions only go up."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def get(self, uri: str) -> Document:
        try:
            return self._open[uri]
        except KeyError:
            raise NotOpen(f"{uri} is not open; send textDocument/didOpen first") from None

    def open(self, document: Document) -> None:
        self._open[document.uri] = document

    def change(self, uri: str, edit: Edit, version: int) -> tuple[Document, Document]:
        """Apply one edit and return the text before and after. An older version is refused."""
        before = self.get(uri)
        if version < before.version:
            raise Stale(f"{uri} is at version {before.version}; a change to version {version} came too late")
        after = before.edited(edit, version)
        self._open[uri] = after
        return before, after

    def close(self, uri: str) -> Document:
        document = self.get(uri)
        del self._open[uri]
        return document
