"""`lspHarness.pullModel`: download a model with progress.

After a cancellation, the next call continues the download.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import single_string
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.model_download import download_model
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.pullModel",
    arguments="[name]",
    description="downloads a model, with progress that can be cancelled; the next call continues",
    result="`name` and `path` of the model",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    name = single_string(params, "the name of a model")
    with show_progress(client, f"Downloading {name}", params.work_done_token) as report:
        return await download_model(name, report)
