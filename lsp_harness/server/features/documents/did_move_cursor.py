"""`lspHarness/didMoveCursor`: the place where the cursor rests.

LSP has no such message, so it is our own, and optional.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import byte_offset

METHOD = "lspHarness/didMoveCursor"


def run(client: EditorClient, params: Any) -> None:
    uri, line, character = (
        value_at(params, path) for path in ("textDocument.uri", "position.line", "position.character")
    )
    if not isinstance(uri, str) or type(line) is not int or type(character) is not int or min(line, character) < 0:
        raise UsageError(f"{METHOD} needs a textDocument with a uri and a position")
    position = types.Position(line, character)
    client.harness.completions.warm(uri, byte_offset(client.current_text(uri), position, client.capabilities.encoding))
