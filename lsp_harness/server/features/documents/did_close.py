"""`textDocument/didClose`"""

from typing import Any

from lsprotocol import types

from lsp_harness.server import text_sync
from lsp_harness.server.editor_client import Client

METHOD = types.TEXT_DOCUMENT_DID_CLOSE


def run(client: Client, params: Any) -> None:
    uri = text_sync.uri_of(METHOD, params)
    client.harness.close(uri)
    client.forget(uri)
