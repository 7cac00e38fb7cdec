"""`lspHarness.context`: what the model would see at a place, as a document that the client shows."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server import command_names, progress
from lsp_harness.server.client_capabilities import at
from lsp_harness.server.commands.command_arguments import about, first, opened, place
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.CONTEXT
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    found, span, task = opened(snapshot), place(client, snapshot, params), at(first(params), "task")
    if task is not None and not isinstance(task, str):
        raise UsageError(f"{params.command} needs a task in words")
    with progress.shown(client, "What the model sees", params.work_done_token):
        preview = await client.harness.preview()
        if task:
            prompt = await preview.edit(found, span, task)
        else:
            prompt = await preview.completion(found, span.end)
        return {"text": preview.render(prompt, *await preview.evaluate(prompt))}
