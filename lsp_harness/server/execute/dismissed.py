"""`lspHarness.dismissed`: the user looked at a suggestion and took it away, which no change of the text tells."""

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import two_names

COMMAND = commands.DISMISSED


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.dismissed(*two_names(params))
