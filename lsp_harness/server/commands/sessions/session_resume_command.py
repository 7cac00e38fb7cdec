"""`lspHarness.session.resume`: opens a saved session, so that no other process can continue it meanwhile."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.session.resume",
    arguments="[{sessionId}]",
    description="opens a saved session, so that no other process can continue it meanwhile",
    result="`sessionId`, `events`, `model`, `permissionMode`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    opened = await client.sessions.resume(SessionArguments(params).session_id)
    return {
        "sessionId": opened.session.id,
        "events": opened.session.state.next_seq,
        "model": opened.model,
        "permissionMode": opened.permission_mode,
    }
