"""`textDocument/didClose`: forget the document."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import EditorClient

METHOD = types.TEXT_DOCUMENT_DID_CLOSE


def run(client: EditorClient, params: Any) -> None:
    uri = text_sync.document_uri(METHOD, params)
    client.harness.close(uri)
    client.report_text(uri)
