"""`lspHarness.statistics`: what became of suggestions. The figures are kept in a file of the user's and sent nowhere."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client

COMMAND = commands.STATISTICS


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return client.harness.uptake.kept()
