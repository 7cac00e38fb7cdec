"""The interface of a conversation with a running type checker: it gets texts and says what it finds in them."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.message_child import Json, MessageChild
from lsp_harness.workspace.folder_stamps import ChangedFile


@dataclass(slots=True)
class SentText:
    """The text of a document as the checker has it."""

    version: int
    document: Document


class CheckerConversation(ABC):
    """A conversation with one checker. There is a subclass for each way in which checkers are asked.

    Args:
        child: The process of the checker.
    """

    def __init__(self, child: MessageChild) -> None:
        self._process = child
        self._sent_texts: dict[str, SentText] = {}

    @property
    def has_ended(self) -> bool:
        return self._process.has_ended

    @property
    def last_words(self) -> str:
        """The last line of the checker's error output."""
        return self._process.last_words

    def send_text(self, document: Document) -> None:
        """Let the checker see this text of a document instead of the one on disk."""
        sent_text = self._sent_texts.get(document.uri)
        if sent_text is None:
            self._sent_texts[document.uri] = SentText(1, document)
            self._open(document)
        elif sent_text.document.data != document.data:
            before = sent_text.document
            sent_text.version, sent_text.document = sent_text.version + 1, document
            self._change(before, document, sent_text.version)

    def send_only(self, documents: Sequence[Document]) -> None:
        """Let the checker see these texts, and all other documents as they are on disk."""
        kept = {document.uri for document in documents}
        for uri in [uri for uri in self._sent_texts if uri not in kept]:
            self.forget_text(uri)
        for document in documents:
            self.send_text(document)

    def forget_text(self, uri: str) -> None:
        """Let the checker read a document from disk again."""
        if self._sent_texts.pop(uri, None):
            self._close_text(uri)

    async def close(self) -> None:
        """End the checker and all that it started."""
        await self._process.close()

    async def leaves_out(self, document: Document, limit_s: float) -> bool:
        """Return whether the settings of the project leave a text out that was sent before.

        Raises:
            ChildFailed: The checker ended or answered with an error.
            TimeoutError: There was no answer within the limit.
        """
        del document, limit_s
        return False

    # -- what depends on the protocol
    @abstractmethod
    async def find_findings(self, document: Document, limit_s: float) -> tuple[Finding, ...]:
        """Return all findings in a text that was sent before.

        Raises:
            ChildFailed: The checker ended or answered with an error.
            TimeoutError: There was no answer within the limit.
        """
        ...

    @abstractmethod
    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Tell the checker which files were created, changed or deleted on disk."""
        ...

    @abstractmethod
    def _open(self, document: Document) -> None: ...

    @abstractmethod
    def _change(self, before: Document, document: Document, version: int) -> None: ...

    @abstractmethod
    def _close_text(self, uri: str) -> None: ...


Start = Callable[[Sequence[str], Path, Callable[[], Json]], Awaitable[CheckerConversation]]
"""Starts a command in a workspace folder, with a function that returns its settings. Raises as `MessageChild` does."""
