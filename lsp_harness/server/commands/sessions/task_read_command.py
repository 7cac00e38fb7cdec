"""`lspHarness.task.read`: returns the output of a task from the byte `since` on."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.task.read",
    arguments="[{sessionId, taskId, since?}]",
    description="returns the output of a task from the byte `since` on",
    result="`text`, `cursor` (the next `since`) and `isRunning`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    result = await client.sessions.command("read_task", arguments.session_id, arguments.fields)
    return camel_keys(result)
