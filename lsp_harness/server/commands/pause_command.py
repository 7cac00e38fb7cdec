"""`lspHarness.pause`: stop automatic suggestions and evaluation in advance, until the pause ends."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.pause",
    arguments='["here" or "everywhere", on]',
    description=(
        "stops automatic suggestions and evaluation in advance, in this server or in all servers of the user; "
        "an explicit request still gets a suggestion. With `on` false, both pauses end"
    ),
    result="`paused`: `false`, `here` or `everywhere`",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    match params.arguments or ():
        case ["here" | "everywhere" as scope, bool() as on]:
            return {"paused": client.harness.completions.pause(scope, on=on)}
        case _:
            raise UsageError(f'{COMMAND.name} takes "here" or "everywhere", and whether to pause: true or false')
