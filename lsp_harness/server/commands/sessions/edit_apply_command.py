"""`lspHarness.edit.apply`: applies a proposal of this server that is not applied yet."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import find_proposal
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.edit_application import EDIT_RESULT, apply_edit, check_apply_edit
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.execution.quick_fix import prepare_written_edit
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Edit with lsp-harness"

COMMAND = EditorCommand(
    name="lspHarness.edit.apply",
    arguments="[{uri, proposalId}]",
    description="applies a proposal of this server that is not applied yet",
    result=EDIT_RESULT,
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    check_apply_edit(client)
    written = find_proposal(client.harness.documents.find(arguments.text("uri")), arguments.text("proposalId"))
    edit = await prepare_written_edit(client, written)
    return await apply_edit(client, written.document.uri, edit, TITLE)
