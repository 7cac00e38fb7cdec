"""`$/cancelRequest`: cancel the task of a request.

The id is read from plain JSON, because LSP types change some ids.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.json_value import value_at

METHOD = types.CANCEL_REQUEST


def run(client: EditorClient, params: Any) -> None:
    id = value_at(params, "id")
    if isinstance(id, int | float | str) and (task := client.server.lsp.running.get(id)):
        task.cancel()
