"""`lspHarness.fix`: a fix computed and applied in one go, for clients that cannot resolve a code action's edit."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, fixing, progress
from lsp_harness.server.applying import apply, check_able
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import first

COMMAND = commands.FIX


def document(params: types.ExecuteCommandParams) -> str:
    return fixing.uri_of(first(params))


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if snapshot is None:
        raise UsageError("this code action names no document")
    check_able(client)
    data = first(params)
    title = str(data.get("title", "Fix"))
    with progress.shown(client, title, params.work_done_token) as report:
        fixed = await fixing.fix(client, snapshot, data, report)
    return await apply(client, snapshot.document.uri, fixed, title)
