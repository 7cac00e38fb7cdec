"""`lspHarness.applied`: the edit of a code action was applied.

Clients run it as the command of the resolved code action.
"""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import uri_and_id
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.execution.quick_fix import APPLIED_COMMAND
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name=APPLIED_COMMAND,
    arguments="[uri, proposalId]",
    description="reports that an edit was applied; the server also notices it from the text",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*uri_and_id(params), "applied")
