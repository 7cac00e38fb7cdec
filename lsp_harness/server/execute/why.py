"""`lspHarness.why`: the document of a verdict, for clients that cannot ask for its content by its URI."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.convert import verdict_name
from lsp_harness.server.execute.arguments import one_name

COMMAND = commands.WHY


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return {"text": client.harness.verdict(verdict_name(one_name(params, "the URI of a verdict")))}
