"""Notifications about open documents.

Messages come in order, and the client knows its text. So a change is accepted whatever its version is. After a change
that cannot be understood, the text is not known any more until the client sends the whole text.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import file_watching, text_sync
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution import comment_trigger
from lsp_harness.server.features.feature_binding import feature
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import byte_offset
from lsp_harness.server.text_sync import TextChange
from lsp_harness.text.document import Document

DID_FOCUS = "lspHarness/didFocus"
DID_MOVE_CURSOR = "lspHarness/didMoveCursor"


@feature(types.TEXT_DOCUMENT_DID_OPEN)
def open_document(client: EditorClient, params: Any) -> None:
    """Open a document. If it is open already, the text is replaced."""
    uri = text_sync.document_uri(types.TEXT_DOCUMENT_DID_OPEN, params)
    try:
        document = text_sync.read_document(uri, params)
    except UsageError as error:
        return client.mark_out_of_sync(uri, types.TEXT_DOCUMENT_DID_OPEN, error.message)
    client.harness.open(document)
    client.harness.documents.get(uri).set_client_version(text_sync.document_version(params))
    client.report_text(uri)
    return client.harness.completions.warm(uri)


@feature(types.TEXT_DOCUMENT_DID_CHANGE)
def change_document(client: EditorClient, params: Any) -> None:
    """Apply the changes in order, each to the text after the change before it."""
    uri, documents = text_sync.document_uri(types.TEXT_DOCUMENT_DID_CHANGE, params), client.harness.documents
    if documents.is_closed(uri):
        # some clients send the last changes of a document after its end
        return client.warn_once(f"{types.TEXT_DOCUMENT_DID_CHANGE} of {uri} came after it was closed and is ignored")
    try:
        changes = text_sync.read_changes(params)
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
    version = text_sync.document_version(params)
    text, language = changes[last_whole_text].text, lost.language if lost else ""
    client.harness.open(Document.from_text(uri, text, language=language, version=version or 0))
    client.harness.documents.get(uri).set_client_version(version)
    return _apply(client, uri, params, changes[last_whole_text + 1 :])


def _apply(client: EditorClient, uri: str, params: Any, changes: list[TextChange]) -> None:
    if not changes:
        return
    version = client.harness.documents.get(uri).next_version(text_sync.document_version(params))
    for change in changes:
        edit = change.to_edit(client.current_text(uri), client.capabilities.encoding)
        client.harness.change(uri, edit, version)


@feature(types.TEXT_DOCUMENT_DID_CLOSE)
def close_document(client: EditorClient, params: Any) -> None:
    """Forget the document."""
    uri = text_sync.document_uri(types.TEXT_DOCUMENT_DID_CLOSE, params)
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
