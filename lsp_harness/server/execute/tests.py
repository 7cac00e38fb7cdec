"""`lspHarness.tests`: tests of the function at a place, in the module's test file or a new one."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about
from lsp_harness.server.execute.writing import write

COMMAND = commands.TESTS
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await write(client, snapshot, params, "Tests with lsp-harness", verbs.tests)
