"""`$/cancelRequest`: cancels the task itself, at whichever await it is. The id is taken as it stands in the JSON."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.client_capabilities import at
from lsp_harness.server.editor_client import Client

METHOD = types.CANCEL_REQUEST


def run(client: Client, params: Any) -> None:
    id = at(params, "id")
    if isinstance(id, int | float | str) and (task := client.server.lsp.running.get(id)):
        task.cancel()
