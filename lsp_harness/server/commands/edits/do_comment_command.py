"""`lspHarness.doComment`: do what a comment with `ai!` says."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri
from lsp_harness.server.execution.edit_application import EDIT_RESULT, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Do what the comment says"
COMMAND = EditorCommand(
    name="lspHarness.doComment",
    arguments="[{uri, range}]",
    description="does what the [comment with `ai!`](actions.md#comments-that-ask) there says, and removes the comment",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Do What the Comment Says", result_title="Edit", handler="edit", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, TITLE, client.harness.edits.follow_comment)
