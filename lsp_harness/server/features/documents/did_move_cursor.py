"""`lspHarness/didMoveCursor`: where the cursor rests. LSP has no word for it, so this is our own and optional."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.client_capabilities import at
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import offset

METHOD = "lspHarness/didMoveCursor"


def run(client: Client, params: Any) -> None:
    uri, line, character = (at(params, path) for path in ("textDocument.uri", "position.line", "position.character"))
    if not isinstance(uri, str) or type(line) is not int or type(character) is not int or min(line, character) < 0:
        raise UsageError(f"{METHOD} needs a textDocument with a uri and a position")
    cursor = offset(client.live(uri), types.Position(line, character), client.able.encoding)
    client.harness.completions.warm(uri, cursor)
