"""`lspHarness.session.fork`: begins a session that continues another one after the event `atSeq` (the last one)."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.session.fork",
    arguments="[{sessionId, atSeq?}]",
    description="begins a session that continues another one after the event `atSeq` (the last one)",
    result="`sessionId` of the new session and `events`, the number of those that it continues",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    return camel_keys(client.sessions.fork(arguments.session_id, arguments.number("atSeq")))
