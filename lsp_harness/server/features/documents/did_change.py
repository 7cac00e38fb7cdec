"""`textDocument/didChange`: apply the changes in order, each to the text after the change before it.

Messages come in order, and the client knows its text. So a change is accepted whatever its version is. After a change
that cannot be understood, the text is not known any more until the client sends the whole text.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.text_sync import TextChange
from lsp_harness.text.document import Document

METHOD = types.TEXT_DOCUMENT_DID_CHANGE


def run(client: EditorClient, params: Any) -> None:
    uri, documents = text_sync.document_uri(METHOD, params), client.harness.documents
    if documents.is_closed(uri):
        # some clients send the last changes of a document after its end
        return client.warn_once(f"{METHOD} of {uri} came after it was closed and is ignored")
    try:
        changes = text_sync.read_changes(params)
    except UsageError as error:
        return client.mark_out_of_sync(uri, METHOD, error.message)
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
        return client.mark_out_of_sync(uri, METHOD, "it was never opened") if changes else None
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
