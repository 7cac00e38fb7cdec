"""The texts a client has open. The only mutable thing in this package."""

from collections.abc import Iterator
from dataclasses import dataclass

from lsp_harness.errors import NotOpen, OutOfStep
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

CLOSED = 1000
"""Closed documents that are remembered, the last ones."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A document whose text is not known any more: a change of it could not be understood. `why` is a sentence without its end."""

    why: str
    language: str


class Documents:
    """Open documents by URI.

    A client counts versions as it likes: it may send none, or a lower one. The versions here go up with every notification; they are the
    client's own as long as those go up.
    """

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self._client_versions: dict[str, tuple[int, int | None]] = {}
        """The last version of a document here, and what its client called it."""
        self._lost: dict[str, Lost] = {}
        self._closed: dict[str, None] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def get(self, uri: str) -> Document:
        """Raises NotOpen, and OutOfStep where the text is not known any more."""
        if lost := self._lost.get(uri):
            raise OutOfStep(f"the text of {uri} is not known ({lost.why}); close the file and open it again")
        try:
            return self._open[uri]
        except KeyError:
            raise NotOpen(f"{uri} is not open; send textDocument/didOpen first") from None

    def find(self, uri: str) -> Document | None:
        """None for what is not open."""
        return self._open.get(uri)

    def open(self, document: Document) -> None:
        self._open[document.uri] = document
        for known in (self._client_versions, self._lost, self._closed):
            known.pop(document.uri, None)

    def name_version(self, document: Document, version: int | None) -> None:
        """The client calls this version of a document so, or does not say."""
        self._client_versions[document.uri] = document.version, version

    def next_version(self, uri: str, version: int | None) -> int:
        """The version here of the text that a change leads to, which its client calls `version`. Raises NotOpen."""
        last = self.get(uri).version
        number = version if version is not None and version > last else last + 1
        self._client_versions[uri] = number, version
        return number

    def client_version(self, document: Document) -> int | None:
        """What the client calls this version of a document; None where it does not say."""
        number, version = self._client_versions.get(document.uri, (document.version, document.version))
        return version if number == document.version else None

    def change(self, uri: str, edit: Edit, version: int) -> tuple[Document, Document]:
        """Apply one edit and return the text before and after. Several edits may lead to one version."""
        before = self.get(uri)
        after = before.apply_edit(edit, max(version, before.version))
        self._open[uri] = after
        return before, after

    def close(self, uri: str) -> Document | None:
        """The text that is open no more; None for one that was not known. Raises NotOpen."""
        if self._lost.pop(uri, None):
            self._closed[uri] = None
            return None
        document = self.get(uri)
        del self._open[uri]
        self._client_versions.pop(uri, None)
        self._closed[uri] = None
        while len(self._closed) > CLOSED:
            del self._closed[next(iter(self._closed))]
        return document

    def closed(self, uri: str) -> bool:
        """Whether the client has closed this document, and not opened it again."""
        return uri in self._closed

    def lose(self, uri: str, why: str) -> bool:
        """Let go of a text that is not the client's any more; whether that is news."""
        if uri in self._lost:
            return False
        document = self._open.pop(uri, None)
        self._client_versions.pop(uri, None)
        self._lost[uri] = Lost(why, document.language if document else "")
        return True

    @property
    def lost(self) -> dict[str, Lost]:
        """The documents whose text is not known any more, by URI."""
        return dict(self._lost)
