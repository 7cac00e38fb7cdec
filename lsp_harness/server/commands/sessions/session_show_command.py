"""`lspHarness.session.show`: shows what happened in a session."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.session.show",
    arguments="[{sessionId}]",
    description="shows what happened in a session",
    result="`sessionId`, `turns`, `events`, `isOpen`, and `text`: the requests, tools, answers and edits",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return camel_keys(client.sessions.show(SessionArguments(params).session_id))
