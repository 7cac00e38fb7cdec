"""Notifications about open documents, with texts and changes of texts as clients send them, read from plain JSON.

Messages come in order, and the client knows its text. So a change is accepted whatever its version is. After a change
that cannot be understood, the text is not known any more until the client sends the whole text.

A message is accepted if it says clearly what the text is: also without a version or a language, with a range of null,
or with a column beyond the end of all lines. Any other message is refused as a whole.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import comment_trigger, file_watching
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import byte_offset
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, encode

DID_FOCUS = "lspHarness/didFocus"
DID_MOVE_CURSOR = "lspHarness/didMoveCursor"


@dataclass(frozen=True, slots=True)
class TextChange:
    """The new text of a range. Without `start` and `end` it is the new text of the whole document."""

    text: str
    start: Position | None = None
    end: Position | None = None

    def to_edit(self, document: Document, encoding: Encoding) -> Edit:
        """Convert the change to byte offsets. A reversed range is put in order."""
        if self.start is None or self.end is None:
            return Edit(0, len(document.data), encode(self.text))
        start, end = document.offset(self.start, encoding), document.offset(self.end, encoding)
        return Edit(min(start, end), max(start, end), encode(self.text))


@feature(types.TEXT_DOCUMENT_DID_OPEN)
def open_document(client: EditorClient, params: Any) -> None:
    """Open a document. If it is open already, the text is replaced."""
    uri = document_uri(types.TEXT_DOCUMENT_DID_OPEN, params)
    try:
        document = read_document(uri, params)
    except UsageError as error:
        return client.mark_out_of_sync(uri, types.TEXT_DOCUMENT_DID_OPEN, error.message)
    client.harness.open(document)
    client.harness.documents.get(uri).set_client_version(document_version(params))
    client.report_text(uri)
    return client.harness.completions.warm(uri)


@feature(types.TEXT_DOCUMENT_DID_CHANGE)
def change_document(client: EditorClient, params: Any) -> None:
    """Apply the changes in order, each to the text after the change before it."""
    uri, documents = document_uri(types.TEXT_DOCUMENT_DID_CHANGE, params), client.harness.documents
    if documents.is_closed(uri):
        # some clients send the last changes of a document after its end
        return client.warn_once(f"{types.TEXT_DOCUMENT_DID_CHANGE} of {uri} came after it was closed and is ignored")
    try:
        changes = read_changes(params)
    except UsageError as error:
        return client.mark_out_of_sync(uri, types.TEXT_DOCUMENT_DID_CHANGE, error.message)
    if uri not in documents:
        _open(client, uri, params, changes)
    else:
        _apply(client, uri, params, changes)
    return client.report_text(uri)


def _open(client: EditorClient, uri: str, params: Any, changes: list[TextChange]) -> None:
    """Open a document that was never opened, or whose text is not known.

    One of the changes must have the whole text.
    """
    whole_texts = [n for n, change in enumerate(changes) if change.start is None]
    if not whole_texts:
        return client.mark_out_of_sync(uri, types.TEXT_DOCUMENT_DID_CHANGE, "it was never opened") if changes else None
    lost = client.harness.documents.lost_texts.get(uri)
    last_whole_text = whole_texts[-1]
    version = document_version(params)
    text, language = changes[last_whole_text].text, lost.language if lost else ""
    client.harness.open(Document.from_text(uri, text, language=language, version=version or 0))
    client.harness.documents.get(uri).set_client_version(version)
    return _apply(client, uri, params, changes[last_whole_text + 1 :])


def _apply(client: EditorClient, uri: str, params: Any, changes: list[TextChange]) -> None:
    if not changes:
        return
    version = client.harness.documents.get(uri).next_version(document_version(params))
    for change in changes:
        edit = change.to_edit(client.current_text(uri), client.capabilities.encoding)
        client.harness.change(uri, edit, version)


@feature(types.TEXT_DOCUMENT_DID_CLOSE)
def close_document(client: EditorClient, params: Any) -> None:
    """Forget a document that the editor has closed."""
    uri = document_uri(types.TEXT_DOCUMENT_DID_CLOSE, params)
    client.harness.close(uri)
    client.report_text(uri)


@feature(types.TEXT_DOCUMENT_DID_SAVE)
def record_save(client: EditorClient, params: types.DidSaveTextDocumentParams) -> None:
    """Use a saved settings file at once, and tell the index of any other file.

    What was changed since the last save is verified, if the settings say so. A save is also a pause of the user, in
    which a completion can be prepared. If the settings say so, the server does what a comment with `ai!` says.
    """
    file_watching.handle_changes(client, [(params.text_document.uri, "changed")])
    client.harness.verification.record_save(params.text_document.uri)
    client.harness.completions.warm(params.text_document.uri)
    if client.harness.config.actions.comment_trigger:
        comment_trigger.start(client, params.text_document.uri)


@feature(DID_FOCUS)
def record_focus(client: EditorClient, params: Any) -> None:
    """Prepare a completion in the document to which the user switched. The notification is our own, and optional."""
    uri = value_at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{DID_FOCUS} needs a textDocument with a uri")
    client.harness.completions.warm(client.current_text(uri).uri)


@feature(DID_MOVE_CURSOR)
def record_cursor(client: EditorClient, params: Any) -> None:
    """Prepare a completion at the place where the cursor rests.

    LSP has no such message, so it is our own, and optional.
    """
    uri, line, character = (
        value_at(params, path) for path in ("textDocument.uri", "position.line", "position.character")
    )
    if not isinstance(uri, str) or type(line) is not int or type(character) is not int or min(line, character) < 0:
        raise UsageError(f"{DID_MOVE_CURSOR} needs a textDocument with a uri and a position")
    position = types.Position(line, character)
    client.harness.completions.warm(uri, byte_offset(client.current_text(uri), position, client.capabilities.encoding))


def document_uri(method: str, params: Any) -> str:
    """Return the URI of the document that a notification is about."""
    uri = value_at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{method} names no document: textDocument.uri must be a string")
    return uri


def document_version(params: Any) -> int | None:
    """Return the number that the client gives to the text after a notification, or None if it gives none."""
    version = value_at(params, "textDocument.version")
    return int(version) if _is_integer(version) else None


def read_document(uri: str, params: Any) -> Document:
    """Return the document that `textDocument/didOpen` opens."""
    item = value_at(params, "textDocument")
    text, language = value_at(item, "text"), value_at(item, "languageId")
    if not isinstance(text, str):
        raise UsageError("textDocument.text must be a string")
    return Document.from_text(
        uri, text, language=language if isinstance(language, str) else "", version=document_version(params) or 0
    )


def read_changes(params: Any) -> list[TextChange]:
    """Return all changes of `textDocument/didChange`, in order."""
    raw_changes = value_at(params, "contentChanges")
    if not isinstance(raw_changes, list):
        raise UsageError("contentChanges must be an array")
    return [_read_change(f"contentChanges[{n}]", raw) for n, raw in enumerate(cast("list[Any]", raw_changes))]


def _read_change(name: str, raw: Any) -> TextChange:
    text, raw_range = value_at(raw, "text"), value_at(raw, "range")
    if not isinstance(text, str):
        raise UsageError(f"{name}.text must be a string")
    if raw_range is None:
        return TextChange(text)
    start = _read_position(f"{name}.range.start", value_at(raw_range, "start"))
    return TextChange(text, start, _read_position(f"{name}.range.end", value_at(raw_range, "end")))


def _read_position(name: str, raw: Any) -> Position:
    line, character = value_at(raw, "line"), value_at(raw, "character")
    if not (_is_integer(line) and _is_integer(character) and line >= 0 and character >= 0):
        raise UsageError(f"{name} must be a position")
    return Position(int(line), int(character))


def _is_integer(number: Any) -> bool:
    """Return whether a value is an integer. Editors in JavaScript also send 1.0 and `Number.MAX_VALUE`."""
    if isinstance(number, float):
        return math.isfinite(number) and number.is_integer()
    return isinstance(number, int) and not isinstance(number, bool)
