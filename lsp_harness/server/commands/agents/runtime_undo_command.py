"""`lspHarness.runtime.undo`: takes back the changes of an agent that were applied last."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.undo",
    arguments="[{agentId, force?}]",
    description=(
        "gives the files to which the changes of an agent were applied last the texts that they had before. `force` "
        "restores files that somebody changed since, too"
    ),
    result="`paths`, `skipped` (path → why it is not restored), and `text`: what was done, in words",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    author = await client.agents.require_author(arguments.agent_id)
    result = await client.agents.changes.worktrees.undo(author.id, force=arguments.flag("force"))
    kept = "".join(f"; {path} stays: {reason}" for path, reason in result.skipped.items())
    text = f"restored {', '.join(result.paths) or 'nothing'}{kept}"
    return {"paths": list(result.paths), "skipped": dict(result.skipped), "text": text}
