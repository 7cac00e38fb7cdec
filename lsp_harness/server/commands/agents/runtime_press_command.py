"""`lspHarness.runtime.press`: types into the terminal of an agent."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.press",
    arguments="[{agentId, keys}]",
    description="types into the terminal of an agent. `keys` are the bytes of a terminal in base64",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    client.agents.require(arguments.agent_id).press(arguments.bytes("keys"))
