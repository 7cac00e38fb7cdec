"""`lspHarness.restartEngine`: stop the process of the model and start it again, when it does not work as it should."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.restartEngine",
    arguments="[]",
    description="stops the engine, by force if needed, and starts it again",
    result="`model` and `pid` of the new engine",
    palette=PaletteEntry(title="Restart Engine", handler="custom"),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    with show_progress(client, "Restarting the engine", params.work_done_token):
        return await client.harness.restart_engine()
