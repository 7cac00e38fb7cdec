"""`lspHarness.explain`: what some lines do, in the model's words; how they are shown is the client's business."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names, progress
from lsp_harness.server.commands.command_arguments import about, opened, place
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.EXPLAIN
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    found, span = opened(snapshot), place(client, snapshot, params)
    with progress.shown(client, "Explain with lsp-harness", params.work_done_token) as report:
        return {"text": await client.harness.edits.explain(found, span, report)}
