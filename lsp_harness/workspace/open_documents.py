"""The documents that a client has open, by URI."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_harness.errors import DocumentNotOpen, DocumentOutOfSync
from lsp_harness.text.document import Document
from lsp_harness.workspace.document_syntax import DocumentSyntax, SyntaxService
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.typed_text import TypingRhythm

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration
    from lsp_harness.syntax.tree import SyntaxTree

MAX_CLOSED_DOCUMENTS = 1000
"""Number of closed documents whose cursor is remembered."""


@dataclass(frozen=True, slots=True)
class LostText:
    """A document whose text is not known any more, because a change of it could not be understood.

    Attributes:
        reason: A sentence without its full stop.
        language: The language id that the client gave the document when it opened it.
    """

    reason: str
    language: str


class OpenDocuments:
    """All documents that one client has open.

    Args:
        syntax: Parses the texts.
        rhythm: Measures how fast the user types, in whichever document.

    Attributes:
        focused_uri: The document in which the user was seen last. Empty until the user was seen.
    """

    def __init__(self, syntax: SyntaxService | None = None, rhythm: TypingRhythm | None = None) -> None:
        self._syntax = syntax or SyntaxService()
        self._rhythm = rhythm or TypingRhythm()
        self.focused_uri = ""
        self._open: dict[str, OpenDocument] = {}
        self._lost: dict[str, LostText] = {}
        self._closed: dict[str, int | None] = {}
        """The last cursor of each closed document: users often come back to where they were."""

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(list(self._open.values()))

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def get(self, uri: str) -> OpenDocument:
        """Return an open document.

        Raises:
            DocumentNotOpen: The client has not opened it.
            DocumentOutOfSync: The text of the document is not known any more.
        """
        if lost_text := self._lost.get(uri):
            raise DocumentOutOfSync(
                f"the text of {uri} is not known ({lost_text.reason}); close the file and open it again"
            )
        try:
            return self._open[uri]
        except KeyError:
            raise DocumentNotOpen(f"{uri} is not open; send textDocument/didOpen first") from None

    def find(self, uri: str) -> OpenDocument | None:
        """Return an open document, or None if it is not open."""
        return self._open.get(uri)

    def create_detached(self, text: Document) -> OpenDocument:
        """Return a document that is not open, for a request about any text."""
        return OpenDocument(text, syntax=self._syntax, rhythm=self._rhythm)

    def syntax_of(self, text: Document) -> DocumentSyntax:
        """Return the syntax of the document that a text is a version of."""
        open_document = self._open.get(text.uri)
        return open_document.syntax if open_document else DocumentSyntax(self._syntax)

    def tree(self, text: Document) -> "SyntaxTree | None":
        """Return the syntax tree of a text if there is one at once."""
        return self.syntax_of(text).tree(text, is_current=self.is_current(text))

    async def tree_when_ready(self, text: Document) -> "SyntaxTree | None":
        """Return the syntax tree of a text, and wait a while if it is being made.

        Raises:
            RequestSuperseded: The text changed meanwhile.
        """
        return await self.syntax_of(text).tree_when_ready(text, is_current=self.is_current(text))

    def declarations(self, text: Document) -> "Sequence[Declaration]":
        """Return the declarations of a text in their order, outer ones first."""
        return self.syntax_of(text).declarations(text, is_current=self.is_current(text))

    def list_without_tree(self) -> list[dict[str, str]]:
        """Return the open documents without a tree although their language has a grammar: `uri` and `why` of each."""
        return [
            {"uri": uri, "why": open_document.syntax.missing_reason}
            for uri, open_document in self._open.items()
            if open_document.syntax.missing_reason
        ]

    def is_current(self, text: Document) -> bool:
        """Return whether this is the present text of an open document."""
        open_document = self._open.get(text.uri)
        return open_document is not None and open_document.text is text

    def open(self, text: Document) -> OpenDocument:
        """Open a document. If it is open already, close it first: nothing known of the old text holds for the new."""
        if text.uri in self._open:
            self.close(text.uri)
        self._lost.pop(text.uri, None)
        cursor = self._closed.pop(text.uri, None)
        open_document = OpenDocument(text, syntax=self._syntax, rhythm=self._rhythm, cursor=cursor)
        self._open[text.uri] = open_document
        return open_document

    def close(self, uri: str) -> OpenDocument | None:
        """Close a document.

        Returns:
            The closed document, or None if its text was not known.

        Raises:
            DocumentNotOpen: The client has not opened it.
        """
        open_document = None if self._lost.pop(uri, None) else self.get(uri)
        self._closed[uri] = open_document.cursor if open_document else None
        while len(self._closed) > MAX_CLOSED_DOCUMENTS:
            del self._closed[next(iter(self._closed))]
        if open_document:
            del self._open[uri]
            open_document.close()
        return open_document

    def is_closed(self, uri: str) -> bool:
        """Return whether the client closed this document and has not opened it again."""
        return uri in self._closed

    def lose(self, uri: str, reason: str) -> bool:
        """Forget a text that differs from the client's by now.

        Returns:
            Whether the text was known until now.
        """
        if uri in self._lost:
            return False
        open_document = self._open.pop(uri, None)
        self._lost[uri] = LostText(reason, open_document.text.language if open_document else "")
        if open_document:
            open_document.close()
        return True

    @property
    def lost_texts(self) -> dict[str, LostText]:
        """The documents whose text is not known any more, by URI."""
        return dict(self._lost)

    async def aclose(self) -> None:
        """Close all documents and stop the parser."""
        for uri in list(self._open):
            self.close(uri)
        await self._syntax.aclose()
