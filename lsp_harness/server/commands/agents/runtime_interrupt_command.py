"""`lspHarness.runtime.interrupt`: stops the work of an agent on its message."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.interrupt",
    arguments="[{agentId}]",
    description="stops the work of an agent on its message. The agent goes on",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    await client.agents.require(AgentArguments(params).agent_id).interrupt()
