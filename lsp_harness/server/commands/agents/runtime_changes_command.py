"""`lspHarness.runtime.changes`: verifies and shows what an agent changed in its worktree."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.agents.agent_arguments import AgentArguments
from lsp_harness.server.agents.agent_fields import review_fields
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.changes",
    arguments="[{agentId}]",
    description="verifies and shows what an agent changed in its worktree. The files of the user are as before",
    result=(
        "`reviewId` (the hash of the changes), `passed` (no check failed), `standing` (`verified`, `form`, "
        "`incomplete`, `unresolved`, `failed` or `unchecked`), `isChecked` (whether a check could read them), "
        "`verdict` (in words, with each check and why it was skipped), `findings`, `files` (each `path` and `kind`: "
        "`created`, `changed` or `removed`), `leftOut` (path → why it is neither checked nor applied) and `text` "
        "(the diff)"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    author = await client.agents.require_author(AgentArguments(params).agent_id)
    worktrees = client.agents.changes.worktrees
    return review_fields(worktrees, author.id, await worktrees.review(author.id, author.name))
