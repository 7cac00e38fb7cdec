"""`lspHarness.runtime.logs`: returns the last lines of what an agent printed."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

SHOWN_LINES = 50

COMMAND = EditorCommand(
    name="lspHarness.runtime.logs",
    arguments="[{agentId, lines?, raw?}]",
    description=(
        "returns the last `lines` (50) of what an agent printed. `raw` keeps the escape sequences of a terminal"
    ),
    result="`lines`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    count = arguments.number("lines")
    return {"lines": agent.read_lines(SHOWN_LINES if count is None else max(0, count), raw=arguments.flag("raw"))}
