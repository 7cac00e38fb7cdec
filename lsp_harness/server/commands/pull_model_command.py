"""`lspHarness.pullModel`: fetches a model, with progress; cancelled, it goes on from there the next time."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.model_download import download_model
from lsp_harness.server import command_names, progress
from lsp_harness.server.commands.command_arguments import one_name
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.PULL_MODEL


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    name = one_name(params, "the name of a model")
    with progress.shown(client, f"Fetching {name}", params.work_done_token) as report:
        return await download_model(name, report)
