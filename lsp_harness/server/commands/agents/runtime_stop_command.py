"""`lspHarness.runtime.stop`: ends an agent and all its processes."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

STOP_TIMEOUT_S = 5.0

COMMAND = EditorCommand(
    name="lspHarness.runtime.stop",
    arguments="[{agentId, force?, timeoutS?}]",
    description=(
        "ends an agent and all processes that it started. It has `timeoutS` (5) to end by itself; `force` "
        "does not ask it. The agent can still be listed and its log be read"
    ),
    result="`left`: the numbers of processes that still run, nearly always none",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    agent = client.agents.require(arguments.agent_id)
    timeout_s = arguments.seconds("timeoutS", STOP_TIMEOUT_S)
    return {"left": await agent.stop(force=arguments.flag("force"), timeout_s=timeout_s)}
