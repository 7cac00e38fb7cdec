"""`lspHarness.task.list`: lists the tasks of a session."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.task.list",
    arguments="[{sessionId}]",
    description="lists the tasks of a session",
    result="for each task `taskId`, `kind`, `title`, `status` and `summary`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return camel_keys(client.sessions.list_tasks(SessionArguments(params).session_id))
