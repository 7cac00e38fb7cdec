"""`lspHarness.runtime.discard`: removes the worktree of an agent."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.discard",
    arguments="[{agentId}]",
    description="ends an agent and removes its worktree and its branch, with everything that it changed there",
    result="`text`: what was done, in words",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    author = await client.agents.require_author(AgentArguments(params).agent_id)
    await author.stop()
    await client.agents.changes.worktrees.discard(author.id)
    return {"text": f"removed the worktree of {author.shown_name}"}
