"""`lspHarness.accepted`: the command of every inline completion; the client runs it when all of the text was taken."""

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.commands.command_arguments import two_names
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.ACCEPTED


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*two_names(params), "accepted")
