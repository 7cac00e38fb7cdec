"""`lspHarness.restartEngine`: the way out when the model's process does not do what it should."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names, progress
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.RESTART_ENGINE


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    with progress.shown(client, "Restarting the engine", params.work_done_token):
        return await client.harness.restart_engine()
