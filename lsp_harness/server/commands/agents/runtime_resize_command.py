"""`lspHarness.runtime.resize`: gives the terminal of an agent another size."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.terminal_views import resize_terminal
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.resize",
    arguments="[{agentId, columns, rows}]",
    description="gives the terminal of an agent another size",
    result="`columns` and `rows`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    columns, rows = resize_terminal(agent, arguments.size("columns"), arguments.size("rows"))
    return {"columns": columns, "rows": rows}
