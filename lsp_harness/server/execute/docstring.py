"""`lspHarness.docstring`: a docstring for the function at a place."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about
from lsp_harness.server.execute.writing import write

COMMAND = commands.DOCSTRING
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await write(client, snapshot, params, "Docstring with lsp-harness", verbs.docstring)
