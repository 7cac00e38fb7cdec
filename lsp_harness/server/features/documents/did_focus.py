"""`lspHarness/didFocus`: the user switched to a document. The notification is our own, and optional."""

from typing import Any

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.json_value import value_at

METHOD = "lspHarness/didFocus"


def run(client: EditorClient, params: Any) -> None:
    uri = value_at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{METHOD} needs a textDocument with a uri")
    client.harness.completions.warm(client.current_text(uri).uri)
