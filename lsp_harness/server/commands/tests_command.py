"""`lspHarness.tests`: tests of the function at a place, in the module's test file or a new one."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.commands.command_arguments import about
from lsp_harness.server.commands.edit_command import write
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.TESTS
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await write(client, snapshot, params, "Tests with lsp-harness", client.harness.edits.tests)
