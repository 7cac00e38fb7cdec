"""`lspHarness.applied`: the command of a resolved code action; run by the client when its edit is in the document."""

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.commands.command_arguments import two_names
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.APPLIED


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*two_names(params), "applied")
