"""`lspHarness.tests`: tests of the function at a place, in the module's test file or a new one."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness import verbs
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, progress
from lsp_harness.server.applying import apply, check_able
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about, opened, place
from lsp_harness.server.fixing import written

COMMAND = commands.TESTS


def document(params: types.ExecuteCommandParams) -> str:
    return about(params)


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    check_able(client)
    found, span = opened(snapshot), place(client, snapshot, params)
    with progress.shown(client, "Tests with lsp-harness", params.work_done_token) as report:
        made = await verbs.tests(client.harness, found, span, report)
    return await apply(client, made.document.uri, written(client, made), "Tests with lsp-harness")
