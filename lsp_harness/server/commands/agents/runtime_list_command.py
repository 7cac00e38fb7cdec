"""`lspHarness.runtime.list`: lists the agents of this server."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_fields import agent_fields
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.list",
    arguments="[]",
    description="lists the agents of this server, also those that have ended, the oldest first",
    result="`agents`: [the agents](#agents)",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return {"agents": [agent_fields(client, agent) for agent in client.harness.agents.list()]}
