"""`lspHarness.pullModel`: fetches a model, with progress; cancelled, it goes on from there the next time."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.pulling import pull
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, progress
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import one_name

COMMAND = commands.PULL_MODEL


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    name = one_name(params, "the name of a model")
    with progress.shown(client, f"Fetching {name}", params.work_done_token) as report:
        return await pull(name, report)
