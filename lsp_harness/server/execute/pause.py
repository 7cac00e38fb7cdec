"""`lspHarness.pause`: no suggestion comes by itself and nothing is evaluated ahead until it is taken back."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client

COMMAND = commands.PAUSE


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    match params.arguments or ():
        case ["here" | "everywhere" as scope, bool() as on]:
            return {"paused": client.harness.pause(scope, on=on)}
        case _:
            raise UsageError(f'{COMMAND} takes "here" or "everywhere", and whether to pause: true or false')
