"""`lspHarness.docstring`: a docstring for the function at a place."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.commands.command_arguments import about
from lsp_harness.server.commands.edit_command import write
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.DOCSTRING
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await write(client, snapshot, params, "Docstring with lsp-harness", client.harness.edits.docstring)
