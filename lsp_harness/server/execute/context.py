"""`lspHarness.context`: what the model would see at a place, as a document that the client shows."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, progress
from lsp_harness.server.abilities import at
from lsp_harness.server.client import Client
from lsp_harness.server.execute.arguments import about, first, opened, place

COMMAND = commands.CONTEXT
document = about


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    # not before it is asked for: with it comes the model's side
    from lsp_harness.harness import seen

    found, span, task = opened(snapshot), place(client, snapshot, params), at(first(params), "task")
    if task is not None and not isinstance(task, str):
        raise UsageError(f"{params.command} needs a task in words")
    harness = client.harness
    with progress.shown(client, "What the model sees", params.work_done_token):
        engine = await harness.engines.estimating(harness.config)
        if task:
            prompt = await seen.edit(harness, engine, found, span, task)
        else:
            prompt = await seen.completion(harness, engine, found, span.end)
        parts, usage = await seen.evaluated(engine, prompt)
        return {"text": seen.document(prompt, parts, usage, engine.why)}
