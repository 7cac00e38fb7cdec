"""`lspHarness.restartEngine`: the way out when the model's process does not do what it should."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, progress
from lsp_harness.server.client import Client

COMMAND = commands.RESTART_ENGINE


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    with progress.shown(client, "Restarting the engine", params.work_done_token):
        return await client.harness.engines.restart(client.harness.config)
