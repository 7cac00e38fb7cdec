"""`lspHarness.session.list`: lists the saved sessions, the last one first, at most `limit` (20)."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments, camel_keys
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

SHOWN_SESSIONS = 20

COMMAND = EditorCommand(
    name="lspHarness.session.list",
    arguments="[{limit?}]",
    description="lists the saved sessions, the last one first, at most `limit` (20)",
    result=(
        "for each session `id`, `startedAt`, `folder`, `driver`, `model`, `turns`, `events`, `title`, "
        "`parent`, `forkSeq` and `isOpen`"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    client.sessions.require_trust()
    limit = SessionArguments(params).number("limit")
    return camel_keys(client.sessions.list_saved(SHOWN_SESSIONS if limit is None else max(0, limit)))
