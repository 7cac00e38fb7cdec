"""`lspHarness.session.close`: stops a session of this editor, so that another process can continue it."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.session.close",
    arguments="[{sessionId}]",
    description="stops a session of this editor, so that another process can continue it",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    await client.sessions.close(SessionArguments(params).session_id)
