"""`lspHarness.answerComment`: answer a comment with `ai?` in the words of the model."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri, required_snapshot, selected_span
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Answer the comment"
COMMAND = EditorCommand(
    name="lspHarness.answerComment",
    arguments="[{uri, range}]",
    description="answers the [comment with `ai?`](actions.md#comments-that-ask) there by the model",
    result="`text`: the answer, in Markdown",
    document=document_uri,
    palette=PaletteEntry(
        title="Answer the Comment", result_title="Answer", handler="text", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, TITLE, params.work_done_token) as report:
        return {"text": await client.harness.edits.answer_comment(source, span, report)}
