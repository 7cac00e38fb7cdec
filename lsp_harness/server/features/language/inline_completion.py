"""`textDocument/inlineCompletion`: ghost text.

An engine that is down is reported once; asked again by the next keystroke, the answer is that there is nothing.
"""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.server import command_names
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import offset, range_of
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_INLINE_COMPLETION


async def run(client: Client, snapshot: Snapshot, params: types.InlineCompletionParams) -> types.InlineCompletionList:
    document, encoding = snapshot.document, client.able.encoding
    if document.is_binary:
        return types.InlineCompletionList(items=[])
    automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
    try:
        suggestions = await client.harness.completions.complete(
            snapshot, offset(document, params.position, encoding), automatic=automatic
        )
    except (ConfigError, EngineError, ModelError) as error:
        if client.first_complaint(error.message) or not automatic:
            raise
        return types.InlineCompletionList(items=[])
    client.content()
    return types.InlineCompletionList(
        items=[
            types.InlineCompletionItem(
                insert_text=suggestion.text,
                range=range_of(document, suggestion.start, suggestion.end, encoding),
                command=types.Command("Accepted", command_names.ACCEPTED, arguments=[document.uri, suggestion.id]),
            )
            for suggestion in suggestions
        ]
    )
