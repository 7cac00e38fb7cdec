"""`lspHarness.task.wait`: waits until a task has ended, or for `timeout` seconds (30)."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

WAIT_S = 30.0

COMMAND = EditorCommand(
    name="lspHarness.task.wait",
    arguments="[{sessionId, taskId, timeout?}]",
    description="waits until a task has ended, or for `timeout` seconds (30)",
    result="`taskId` and `status`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    task_id, timeout_s = arguments.text("taskId"), arguments.seconds("timeout", WAIT_S)
    return camel_keys(await client.sessions.wait_for_task(arguments.session_id, task_id, timeout_s))
