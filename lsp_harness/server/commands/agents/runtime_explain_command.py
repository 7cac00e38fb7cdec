"""`lspHarness.runtime.explain`: says how the state of an agent is known."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.explain",
    arguments="[{agentId}]",
    description=(
        "says how the state of an agent is known: what each source claims, and the rules that were tried last"
    ),
    result="`state`, `claims` and `rules`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return client.agents.require(AgentArguments(params).agent_id).explain()
