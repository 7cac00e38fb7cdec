"""`textDocument/inlineCompletion`: ghost text.

If the engine does not work, one request fails. The requests of the keys after it get an empty answer.
"""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.server.commands import accepted_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import byte_offset, lsp_range
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_INLINE_COMPLETION


async def run(
    client: EditorClient, snapshot: Snapshot, params: types.InlineCompletionParams
) -> types.InlineCompletionList:
    document, encoding = snapshot.document, client.capabilities.encoding
    if document.is_binary:
        return types.InlineCompletionList(items=[])
    is_automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
    try:
        suggestions = await client.harness.completions.complete(
            snapshot, byte_offset(document, params.position, encoding), automatic=is_automatic
        )
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
