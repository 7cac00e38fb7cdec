"""`lspHarness.edit.undo`: undo the edits of a turn of a session."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.edit.undo",
    arguments="[{sessionId, turn?, force?}]",
    description=(
        "gives the files that a turn of a session changed (the last one) the texts that they had before it. "
        "`force` restores files that somebody changed since, too. Edits that the editor applied are undone in"
        " the editor"
    ),
    result="`turn`, `paths`, and `skipped`: path → why it is not restored",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.harness.sessions.command("undo", arguments.session_id, arguments.fields)
    return camel_keys(result)
