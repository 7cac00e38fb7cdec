"""`textDocument/didSave`: a saved settings file takes effect at once, and the index takes up any other; it is a pause worth
preparing in."""

from lsprotocol import types

from lsp_harness.server import file_watching
from lsp_harness.server.editor_client import Client

METHOD = types.TEXT_DOCUMENT_DID_SAVE


def run(client: Client, params: types.DidSaveTextDocumentParams) -> None:
    file_watching.changed(client, [params.text_document.uri])
    client.harness.completions.warm(params.text_document.uri)
