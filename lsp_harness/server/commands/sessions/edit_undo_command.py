"""`lspHarness.edit.undo`: undo the edits of a turn of a session."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.edit.undo",
    arguments="[{sessionId, turn?, paths?, commands?, force?, redo?, preview?}]",
    description=(
        "gives the files that a turn of a session changed (the last one) the texts that they had before it. "
        "`commands` restores files that changed while commands ran, too, `force` also those that somebody changed "
        "since, and `redo` takes the last undo back. With `preview`, nothing is changed. Edits that the editor applied "
        "are undone in the editor"
    ),
    result="`turn`, `paths`, `removed`, `skipped`: path → why it is not restored, `commands`: those that changed while "
    "a command ran, and `texts`: path → `before` and `after` → the file with this text",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("undo", arguments.session_id, {**arguments.fields, "confirmed": True})
    return camel_keys(result)
