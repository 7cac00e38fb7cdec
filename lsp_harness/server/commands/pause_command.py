"""`lspHarness.pause`: no suggestion comes by itself and nothing is evaluated ahead until it is taken back."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import command_names
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.PAUSE


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    match params.arguments or ():
        case ["here" | "everywhere" as scope, bool() as on]:
            return {"paused": client.harness.completions.pause(scope, on=on)}
        case _:
            raise UsageError(f'{COMMAND} takes "here" or "everywhere", and whether to pause: true or false')
