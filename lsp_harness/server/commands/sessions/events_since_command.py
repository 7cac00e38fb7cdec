"""`lspHarness.events.since`: returns the events of a session after the number `seq`."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.conversation_arguments import SessionArguments
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.events.since",
    arguments="[{sessionId, seq?}]",
    description="returns the events of a session after the number `seq`, for a client that was not there",
    result=(
        "`sessionId`, `events` (as in [`$/lspHarness/event`](#conversations)), `next` (the next `seq`), and "
        "`isComplete`"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    arguments = SessionArguments(params)
    seq = arguments.number("seq")
    found = client.sessions.events_since(arguments.session_id, -1 if seq is None else seq)
    return {
        "sessionId": found["session_id"],
        "events": found["events"],
        "next": found["next"],
        "isComplete": found["is_complete"],
    }
