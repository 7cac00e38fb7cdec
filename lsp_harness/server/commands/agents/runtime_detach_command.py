"""`lspHarness.runtime.detach`: stops showing a terminal."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.detach",
    arguments="[{viewerId}]",
    description="stops showing a terminal. The agent goes on",
    result="null",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    client.terminals.detach(AgentArguments(params).text("viewerId"))
