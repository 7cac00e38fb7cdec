"""`lspHarness.accepted`: the command of every inline completion; the client runs it when all of the text was taken."""

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import two_names

COMMAND = commands.ACCEPTED


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.accepted(*two_names(params))
