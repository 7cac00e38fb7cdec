"""`textDocument/didOpen`, also of a document that is open already: then the text is replaced."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import Client

METHOD = types.TEXT_DOCUMENT_DID_OPEN


def run(client: Client, params: Any) -> None:
    uri = text_sync.uri_of(METHOD, params)
    try:
        document = text_sync.opened(uri, params)
    except UsageError as error:
        return client.lose(uri, METHOD, error.message)
    if uri in client.harness.documents:
        client.forget(uri)
    client.harness.open(document)
    client.harness.documents.get(uri).set_client_version(text_sync.version_of(params))
    return client.harness.completions.warm(uri)
