"""`textDocument/didClose`"""

from lsprotocol import types

from lsp_harness.server.client import Client

METHOD = types.TEXT_DOCUMENT_DID_CLOSE


def run(client: Client, params: types.DidCloseTextDocumentParams) -> None:
    client.harness.close(params.text_document.uri)
    client.forget(params.text_document.uri)
