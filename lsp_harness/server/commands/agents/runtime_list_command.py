"""`lspHarness.runtime.list`: lists the agents of this server."""

from typing import Any

from lsprotocol import types

from lsp_harness.agents.worktree_records import describe_worktree
from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.agents.agent_fields import agent_fields
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.list",
    arguments="[{worktrees?}]",
    description=(
        "lists the agents of this server, also those that have ended, the oldest first. With `worktrees` it also lists "
        "all worktrees of agents, also those that earlier servers left: the commands `changes`, `apply`, `undo` and "
        "`discard` take their `agentId`"
    ),
    result=(
        "`agents`: [the agents](#agents); `worktrees`: each with `agentId`, `name`, `branch`, `folder`, `isRunning`, "
        "`takenBy` (another process that is in charge, or null) and `changedFiles`"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    agents = client.agents
    answer: dict[str, Any] = {"agents": [agent_fields(client, agent) for agent in agents.list()]}
    if params.arguments and AgentArguments(params).flag("worktrees"):
        running = {agent.id for agent in agents.pool.running}
        records = await agents.changes.worktrees.list_records()
        answer["worktrees"] = [await describe_worktree(record, running) for record in records]
    return answer
