"""`lspHarness.explain`: explain some lines in the words of the model."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri, required_snapshot, selected_span
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.explain",
    arguments="[{uri, range}]",
    description="explains these lines by the model",
    result="`text`: the explanation, in Markdown",
    document=document_uri,
    palette=PaletteEntry(
        title="Explain", result_title="Explanation", handler="text", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, "Explain with lsp-harness", params.work_done_token) as report:
        return {"text": await client.harness.edits.explain(source, span, report)}
