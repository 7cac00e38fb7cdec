"""`lspHarness.edit.reject`: reports that the user refused a proposal of this server."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import reject_proposal
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.edit.reject",
    arguments="[{uri, proposalId, reason?}]",
    description="reports that the user refused a proposal of this server",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    opened, reason = client.harness.documents.find(arguments.text("uri")), arguments.text("reason", "")
    client.harness.fixes.unlearn(reject_proposal(opened, arguments.text("proposalId"), reason))
