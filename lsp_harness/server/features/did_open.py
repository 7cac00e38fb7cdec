"""`textDocument/didOpen`"""

from lsprotocol import types

from lsp_harness.server.client import Client
from lsp_harness.text.document import Document

METHOD = types.TEXT_DOCUMENT_DID_OPEN


def run(client: Client, params: types.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    client.harness.open(Document.of(item.uri, item.text, language=str(item.language_id), version=item.version))
    client.harness.warm(item.uri)
