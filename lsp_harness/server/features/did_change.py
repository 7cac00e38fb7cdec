"""`textDocument/didChange`: each change is placed in the text the one before it left, in the client's own units."""

from lsprotocol import types

from lsp_harness.server.client import Client
from lsp_harness.server.convert import span
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

METHOD = types.TEXT_DOCUMENT_DID_CHANGE


def run(client: Client, params: types.DidChangeTextDocumentParams) -> None:
    uri, version = params.text_document.uri, params.text_document.version
    for change in params.content_changes:
        document = client.live(uri)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = span(document, change.range, client.able.encoding)
        else:
            start, end = 0, len(document.data)
        client.harness.change(uri, Edit(start, end, encode(change.text)), version)
