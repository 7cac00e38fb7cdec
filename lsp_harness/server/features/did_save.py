"""`textDocument/didSave`: a saved settings file takes effect at once; elsewhere it is a pause worth preparing in."""

from lsprotocol import types

from lsp_harness.config.load import PROJECT_FILES
from lsp_harness.server import settings
from lsp_harness.server.client import Client

METHOD = types.TEXT_DOCUMENT_DID_SAVE


def run(client: Client, params: types.DidSaveTextDocumentParams) -> None:
    if params.text_document.uri.rsplit("/", 1)[-1] in PROJECT_FILES:
        settings.reload(client)
    client.harness.warm(params.text_document.uri)
