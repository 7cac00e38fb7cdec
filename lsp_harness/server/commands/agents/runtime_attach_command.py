"""`lspHarness.runtime.attach`: begins to show the terminal of an agent."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.terminal_views import resize_terminal
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.attach",
    arguments="[{agentId, columns?, rows?}]",
    description=(
        "begins to show the terminal of an agent, and gives it this size. The bytes are read with "
        "`lspHarness.runtime.read`. Several views of a terminal are possible"
    ),
    result="`viewerId`, `columns` and `rows`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    columns, rows = resize_terminal(agent, arguments.size("columns"), arguments.size("rows"))
    return {"viewerId": client.terminals.attach(agent), "columns": columns, "rows": rows}
