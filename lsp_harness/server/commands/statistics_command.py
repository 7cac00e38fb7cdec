"""`lspHarness.statistics`: what became of suggestions. The figures are kept in a file of the user's and sent nowhere."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.STATISTICS


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return client.harness.completions.statistics()
