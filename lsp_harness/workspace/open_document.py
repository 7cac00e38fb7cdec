"""One open document: its text, and everything that the layers above keep for it while it is open."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.document_syntax import DocumentSyntax, SyntaxService
from lsp_harness.workspace.edit_history import EditHistory
from lsp_harness.workspace.typed_text import TypingRhythm, count_bytes_before_cursor


class DocumentPart(Protocol):
    """The state that a layer above the workspace keeps for one open document, such as its displayed suggestions."""

    def close(self) -> None:
        """Stop the work of this part. The document is closed, or its text was replaced."""
        ...


Part = TypeVar("Part", bound=DocumentPart)


class OpenDocument:
    """The text of one document that a client has open, and all state that belongs to it.

    A layer above keeps its own state as a part, which `part` creates once. So there is one place that forgets a
    document, `close`, and no map by URI elsewhere.

    Attributes:
        text: The present version of the text.
        syntax: The syntax tree and the declarations of the present text.
        history: The latest edit, and the places where the user rejected a suggestion.
        cursor: The byte offset at which the user was seen last, or None if nobody has seen them in this document.
        is_edited: Whether the user edited the text since it was opened.
        saved_text: The text when the document was opened or last saved.
    """

    def __init__(
        self,
        text: Document,
        *,
        syntax: SyntaxService | None = None,
        rhythm: TypingRhythm | None = None,
        cursor: int | None = None,
    ) -> None:
        self.text = self.saved_text = text
        self.syntax = DocumentSyntax(syntax or SyntaxService())
        self.history = EditHistory(rhythm or TypingRhythm())
        self.cursor = cursor
        self.is_edited = False
        self._client_version: tuple[int, int | None] = text.version, text.version
        self._parts: dict[type[Any], DocumentPart] = {}

    @property
    def uri(self) -> str:
        return self.text.uri

    # -- text
    def edit(self, edit: Edit, version: int) -> Document:
        """Apply one edit and return the text before it. Several edits may lead to the same version."""
        before = self.text
        self.text = after = before.apply_edit(edit, max(version, before.version))
        self.is_edited = True
        self.cursor = edit.start + count_bytes_before_cursor(edit.new)
        self.history.add(before, edit, after)
        self.syntax.follow(before, edit, after)
        return before

    def save(self) -> Document:
        """Record that the user saved the present text, and return the text that was saved before."""
        before, self.saved_text = self.saved_text, self.text
        return before

    # -- versions
    def set_client_version(self, version: int | None) -> None:
        """Record the number that the client gave to the present text, or None if it gave none."""
        self._client_version = self.text.version, version

    def next_version(self, client_version: int | None) -> int:
        """Return the version of the text that the next change leads to.

        A client may send no version, or a lower one than before. Versions here always grow; they are the client's own
        as long as those grow, too.
        """
        last = self.text.version
        number = client_version if client_version is not None and client_version > last else last + 1
        self._client_version = number, client_version
        return number

    def client_version(self, text: Document) -> int | None:
        """Return the number that the client gave to this version of the text, or None if it gave none."""
        number, version = self._client_version
        return version if number == text.version else None

    # -- parts
    def part(self, kind: type[Part], create: Callable[[], Part] | None = None) -> Part:
        """Return the state of one layer for this document, and create it at the first call."""
        if kind not in self._parts:
            self._parts[kind] = (create or kind)()
        return cast("Part", self._parts[kind])

    def find_part(self, kind: type[Part]) -> Part | None:
        """Return the state of one layer, or None if that layer has done nothing for this document yet."""
        return cast("Part | None", self._parts.get(kind))

    def close(self) -> None:
        """Stop all work for this document. It keeps its last text."""
        for part in self._parts.values():
            part.close()
        self._parts.clear()
        self.syntax.close()
