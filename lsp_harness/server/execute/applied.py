"""`lspHarness.applied`: the command of a resolved code action; run by the client when its edit is in the document."""

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import two_names

COMMAND = commands.APPLIED


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.applied(*two_names(params))
