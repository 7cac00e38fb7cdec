"""`textDocument/didChange`: each change is placed in the text the one before it left, in the client's own units.

Messages come in order, and the client knows what its text is, so a change is taken whatever its version is. One that cannot be
understood leaves a text that nobody knows: it is let go of until the client sends all of it.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import Client
from lsp_harness.server.text_sync import Change
from lsp_harness.text.document import Document

METHOD = types.TEXT_DOCUMENT_DID_CHANGE


def run(client: Client, params: Any) -> None:
    uri, documents = text_sync.uri_of(METHOD, params), client.harness.documents
    if documents.is_closed(uri):
        # some clients send the last keys of a document behind its end
        return client.warn_once(f"{METHOD} of {uri} came after it was closed and is ignored")
    try:
        changes = text_sync.changes(params)
    except UsageError as error:
        return client.lose(uri, METHOD, error.message)
    if uri not in documents:
        return _start(client, uri, params, changes)
    return _apply(client, uri, params, changes)


def _start(client: Client, uri: str, params: Any, changes: list[Change]) -> None:
    """A document that was never opened, or whose text is not known any more: a change that has all of the text tells it."""
    whole = [n for n, change in enumerate(changes) if change.start is None]
    if not whole:
        return client.lose(uri, METHOD, "it was never opened") if changes else None
    lost = client.harness.documents.lost_texts.get(uri)
    first = changes[whole[-1]]
    version = text_sync.version_of(params)
    document = Document.from_text(uri, first.text, language=lost.language if lost else "", version=version or 0)
    client.harness.open(document)
    client.harness.documents.get(uri).set_client_version(version)
    return _apply(client, uri, params, changes[whole[-1] + 1 :])


def _apply(client: Client, uri: str, params: Any, changes: list[Change]) -> None:
    if not changes:
        return
    number = client.harness.documents.get(uri).next_version(text_sync.version_of(params))
    for change in changes:
        edit = change.edit(client.live(uri), client.able.encoding)
        client.harness.change(uri, edit, number)
