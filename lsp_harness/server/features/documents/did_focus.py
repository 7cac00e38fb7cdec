"""`lspHarness/didFocus`: the user has turned to this document. Optional, and our own."""

from typing import Any

from lsp_harness.errors import UsageError
from lsp_harness.server.client_capabilities import at
from lsp_harness.server.editor_client import Client

METHOD = "lspHarness/didFocus"


def run(client: Client, params: Any) -> None:
    uri = at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{METHOD} needs a textDocument with a uri")
    client.harness.completions.warm(client.live(uri).uri)
