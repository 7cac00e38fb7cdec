"""`lspHarness.agent.interrupt`: stops the running turn."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.agent.interrupt",
    arguments="[{sessionId}]",
    description="stops the running turn. The session goes on",
    result="`interrupted`: whether a turn ran",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return await client.sessions.interrupt(SessionArguments(params).session_id)
