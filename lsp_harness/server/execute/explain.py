"""`lspHarness.explain`: what some lines do, in the model's words; how they are shown is the client's business."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, progress
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about, opened, place

COMMAND = commands.EXPLAIN
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    found, span = opened(snapshot), place(client, snapshot, params)
    with progress.shown(client, "Explain with lsp-harness", params.work_done_token) as report:
        return {"text": await verbs.explain(client.harness, found, span, report)}
