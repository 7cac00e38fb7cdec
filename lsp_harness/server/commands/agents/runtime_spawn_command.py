"""`lspHarness.runtime.spawn`: starts an agent."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.agents.agent_fields import agent_fields
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.spawn",
    arguments=(
        "[{type, uri?, workdir?, name?, args?, model?, terminal?, transport?, permissionMode?, isolation?, runner?, "
        "network?, columns?, rows?, idleTimeoutS?}]"
    ),
    description=(
        "starts an [agent](agents.md) of a kind in the workspace folder of `uri`, or in its folder `workdir`."
        " `terminal` runs it in a terminal, where its transport would be another one. With `isolation: "
        "worktree` it works in a git worktree of its own. `runner` says where it runs, and `network: false` keeps it"
        " from the network. The permission gate is asked first, and no agent is"
        " started in a workspace that is not trusted"
    ),
    result="[the agent](#agents). An event says when it is ready",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)

    with show_progress(client, f"Starting {arguments.text('type')}", params.work_done_token):
        agents = client.agents
        # every editor can show a message with buttons
        agents.gate.has_person = True
        agent = await agents.spawn(arguments.spec(client))
    return agent_fields(client, agent)
