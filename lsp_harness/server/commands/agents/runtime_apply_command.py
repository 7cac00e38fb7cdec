"""`lspHarness.runtime.apply`: writes what an agent changed in its worktree into the files of the user."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.agents.agent_fields import review_fields
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.apply",
    arguments="[{agentId, reviewId, unchecked?}]",
    description=(
        "writes what an agent changed in its worktree into the files of the user, exactly as "
        "`lspHarness.runtime.changes` showed it. No check may have failed. With `unchecked`, "
        "changes that no check can read are applied, too. A checkpoint undoes it"
    ),
    result="`files`, and `text`: what was done, in words",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = AgentArguments(params)
    author = await client.agents.require_author(arguments.agent_id)
    worktrees = client.agents.changes.worktrees
    review = await worktrees.apply(author.id, arguments.text("reviewId"), unchecked=arguments.flag("unchecked"))
    files = review_fields(worktrees, author.id, review)["files"]
    return {"files": files, "text": f"applied {', '.join(file['path'] for file in files)}"}
