"""`textDocument/inlineCompletion`: ghost text.

If the engine does not work, one request fails. The requests of the keys after it get an empty answer.
"""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.kernel.results import Suggestion
from lsp_harness.server.commands import accepted_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import byte_offset, lsp_range
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_INLINE_COMPLETION
PROGRESS_DELAY_S = 1.0
"""A user who asked sees a progress bar after this time. Most suggestions are there before."""


async def run(
    client: EditorClient, snapshot: Snapshot, params: types.InlineCompletionParams
) -> types.InlineCompletionList:
    document, encoding = snapshot.document, client.capabilities.encoding
    if document.is_binary:
        return types.InlineCompletionList(items=[])
    is_automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
    offset = byte_offset(document, params.position, encoding)
    try:
        suggestions = await _complete(client, snapshot, offset, params.work_done_token, is_automatic=is_automatic)
    except (ConfigError, EngineError, ModelError) as error:
        if client.is_new_failure(error.message) or not is_automatic:
            raise
        return types.InlineCompletionList(items=[])
    client.clear_failure()
    return types.InlineCompletionList(
        items=[
            types.InlineCompletionItem(
                insert_text=suggestion.text,
                range=lsp_range(document, suggestion.start, suggestion.end, encoding),
                command=types.Command(
                    "Accepted", accepted_command.COMMAND.name, arguments=[document.uri, suggestion.id]
                ),
            )
            for suggestion in suggestions
        ]
    )


async def _complete(
    client: EditorClient, snapshot: Snapshot, offset: int, token: types.ProgressToken | None, *, is_automatic: bool
) -> list[Suggestion]:
    """Return the suggestions. A user who asked can see that the model works, and cancel it."""
    completions = client.harness.completions
    if is_automatic:
        return await completions.complete(snapshot, offset)
    with show_progress(client, "Completion by lsp-harness", token, delay_s=PROGRESS_DELAY_S):
        return await completions.complete(snapshot, offset, automatic=False)
