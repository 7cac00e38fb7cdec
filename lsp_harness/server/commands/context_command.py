"""`lspHarness.context`: show what the model would see at a place."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import (
    document_uri,
    first_argument,
    required_snapshot,
    selected_span,
)
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.json_value import value_at
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.context",
    arguments="[{uri, range, task?}]",
    description=(
        "describes the prompt of a completion at the end of the range, or of an edit by the instruction `task`. "
        "If the engine does not answer, tokens are estimated, and the text says so"
    ),
    result=(
        "`text`: Markdown with the parts of the prompt, their source, reason and tokens, "
        "and whether they were evaluated or reused"
    ),
    document=document_uri,
    palette=PaletteEntry(
        title="Show What the Model Sees Here", result_title="Context", handler="text", sends_selection=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    task = value_at(first_argument(params), "task")
    if task is not None and not isinstance(task, str):
        raise UsageError(f"{params.command} needs a task as a string")
    with show_progress(client, "What the model sees", params.work_done_token):
        preview = await client.harness.preview()
        if task:
            prompt = await preview.edit(source, span, task)
        else:
            prompt = await preview.completion(source, span.end)
        return {"text": preview.render(prompt, *await preview.evaluate(prompt))}
