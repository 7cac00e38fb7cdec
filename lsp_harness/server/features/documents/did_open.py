"""`textDocument/didOpen`: open a document. If it is open already, the text is replaced."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import EditorClient

METHOD = types.TEXT_DOCUMENT_DID_OPEN


def run(client: EditorClient, params: Any) -> None:
    uri = text_sync.document_uri(METHOD, params)
    try:
        document = text_sync.read_document(uri, params)
    except UsageError as error:
        return client.mark_out_of_sync(uri, METHOD, error.message)
    client.harness.open(document)
    client.harness.documents.get(uri).set_client_version(text_sync.document_version(params))
    client.report_text(uri)
    return client.harness.completions.warm(uri)
