"""`lspHarness.runtime.read`: returns the next piece of the output of a terminal."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.read",
    arguments="[{viewerId}]",
    description=(
        "returns the next piece of the output of a terminal, and waits for it at most 20 s. The first piece "
        "is the screen as it is, with which the editor begins on an empty one. After more output than the "
        "editor read, a piece is the screen again"
    ),
    result=(
        "`data` (base64, may be empty), `isEnd` (the agent has ended, and nothing follows) and `reason` (why it ended)"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return await client.terminals.read(AgentArguments(params).text("viewerId"))
