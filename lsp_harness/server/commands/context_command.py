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
    # not before it is asked for: with it comes the model's side
    from lsp_harness.harness import prompt_preview

    found, span, task = opened(snapshot), place(client, snapshot, params), at(first(params), "task")
    if task is not None and not isinstance(task, str):
        raise UsageError(f"{params.command} needs a task in words")
    harness = client.harness
    with progress.shown(client, "What the model sees", params.work_done_token):
        engine = await harness.services.engines.estimating(harness.config)
        if task:
            prompt = await prompt_preview.edit(harness, engine, found, span, task)
        else:
            prompt = await prompt_preview.completion(harness, engine, found, span.end)
        parts, usage = await prompt_preview.evaluated(engine, prompt)
        return {"text": prompt_preview.document(prompt, parts, usage, engine.reason)}
