"""`lspHarness.why`: the document of a verdict, for clients that cannot ask for its content by its URI."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.commands.command_arguments import one_name
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import verdict_name
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.WHY


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return {"text": client.harness.turns.verdict(verdict_name(one_name(params, "the URI of a verdict")))}
