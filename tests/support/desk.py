"""A completer and the documents that its user has open, for tests that bring the texts themselves."""

from typing import Any

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.displayed_suggestions import DisplayedSuggestion
from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.kernel.results import Suggestion
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.typed_text import TypingRhythm


class Desk:
    """A completer with a document. `document` in each call is the text at that time."""

    def __init__(self, completer: Completer, rhythm: TypingRhythm | None = None) -> None:
        self.completer = completer
        self._rhythm = rhythm or TypingRhythm()
        self._opened: dict[str, OpenDocument] = {}

    @property
    def last_figures(self) -> dict[str, Any]:
        return self.completer.last_figures

    def opened(self, document: Document) -> OpenDocument:
        """Return the open document of a text, which becomes the present text."""
        if document.uri not in self._opened:
            self._opened[document.uri] = OpenDocument(document, rhythm=self._rhythm)
        self._opened[document.uri].text = document
        return self._opened[document.uri]

    async def complete(
        self,
        document: Document,
        tree: SyntaxTree | None,
        offset: int,
        path: str,
        *,
        automatic: bool = False,
        persist: bool = False,
    ) -> Suggestion | None:
        cursor = Cursor(document, tree, offset, path, persist)
        return await self.completer.complete(self.opened(document), cursor, automatic=automatic)

    async def choices(self, document: Document, tree: SyntaxTree | None, offset: int, path: str) -> list[Suggestion]:
        return await self.completer.choices(self.opened(document), Cursor(document, tree, offset, path))

    def warm(
        self,
        document: Document,
        tree: SyntaxTree | None,
        offset: int,
        path: str,
        *,
        is_visited: bool = True,
        persist: bool = False,
    ) -> None:
        cursor = Cursor(document, tree, offset, path, persist)
        self.completer.warm(self.opened(document), cursor, "visited" if is_visited else "unknown")

    def move(self, document: Document, offset: int) -> None:
        """Record that the user edited the text up to `offset`."""
        old_size = len(self._opened[document.uri].text.data) if document.uri in self._opened else 0
        opened = self.opened(document)
        opened.cursor = offset
        self.completer.follow(opened, Edit(0, old_size, document.data))

    def find(self, uri: str, suggestion_id: str) -> DisplayedSuggestion | None:
        opened = self._opened.get(uri)
        return self.completer.state(opened).displayed.find(suggestion_id) if opened else None

    def close(self, uri: str) -> None:
        """Close a document."""
        if opened := self._opened.pop(uri, None):
            opened.close()

    def stop_background(self) -> None:
        for opened in self._opened.values():
            if state := opened.find_part(DocumentCompletions):
                state.stop_background()

    async def settled(self, uri: str) -> None:
        if opened := self._opened.get(uri):
            await self.completer.state(opened).prefetch.wait_until_idle()

    async def aclose(self) -> None:
        for uri in list(self._opened):
            self.close(uri)
        await self.completer.aclose()
