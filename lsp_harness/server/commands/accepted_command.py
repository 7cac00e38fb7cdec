"""`lspHarness.accepted`: the user accepted a suggestion.

It is the command of every inline completion; clients run it when all of the text was accepted.
"""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import uri_and_id
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.accepted",
    arguments="[uri, suggestionId]",
    description="reports that a suggestion was accepted: the server checks the document",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*uri_and_id(params), "accepted")
