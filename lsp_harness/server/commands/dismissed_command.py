"""`lspHarness.dismissed`: the user dismissed a suggestion, which no change of the text shows."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import uri_and_id
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.dismissed",
    arguments="[uri, suggestionId]",
    description="reports that the user dismissed a suggestion",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*uri_and_id(params), "dismissed")
