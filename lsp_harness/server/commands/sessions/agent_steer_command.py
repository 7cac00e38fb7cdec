"""`lspHarness.agent.steer`: sends a text into the running turn, at its next step."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.agent.steer",
    arguments="[{sessionId, text}]",
    description="sends a text into the running turn, at its next step",
    result="`itemId` of the waiting text",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("steer", arguments.session_id, arguments.fields)
    return camel_keys(result)
