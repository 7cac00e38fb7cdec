"""Completions: ghost text, and the same suggestions in the completion menu of clients without ghost text."""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.kernel.results import Suggestion
from lsp_harness.server.commands import suggestions as suggestion_commands
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature
from lsp_harness.server.lsp_conversion import byte_offset, lsp_range
from lsp_harness.server.progress import show_progress
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.text.wording import fence_code
from lsp_harness.workspace.snapshot import Snapshot

PROGRESS_DELAY_S = 1.0
"""A user who asked sees a progress bar after this time. Most suggestions are there before."""
MAX_LABEL_CHARS = 60


@feature(types.TEXT_DOCUMENT_INLINE_COMPLETION)
async def complete_inline(
    client: EditorClient, snapshot: Snapshot, params: types.InlineCompletionParams
) -> types.InlineCompletionList:
    """Return ghost text for an inline completion request.

    If the engine does not work, one request fails. The requests of the keys after it get an empty answer.
    """
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
                    "Accepted", suggestion_commands.accepted.name, arguments=[document.uri, suggestion.id]
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


@feature(types.TEXT_DOCUMENT_COMPLETION, is_offered=lambda capabilities: not capabilities.inline_completion)
async def complete(client: EditorClient, snapshot: Snapshot, params: types.CompletionParams) -> types.CompletionList:
    """Return the same suggestions in the completion menu, for clients without ghost text.

    The list is never complete, so that the client sends a new request with the next key. The documentation of an item
    is the text that it inserts.
    """
    document = snapshot.document
    cursor = byte_offset(document, params.position, client.capabilities.encoding)
    suggestions: list[Suggestion] = []
    if not document.is_binary:
        try:
            suggestions = await client.harness.completions.complete(snapshot, cursor)
            client.clear_failure()
        except (ConfigError, EngineError, ModelError) as error:
            if client.is_new_failure(error.message):
                raise
    items = [
        _make_item(client, document, cursor, suggestion)
        for suggestion in suggestions
        if _is_in_cursor_line(document, cursor, suggestion)
    ]
    return types.CompletionList(is_incomplete=True, items=items)


def _is_in_cursor_line(document: Document, cursor: int, suggestion: Suggestion) -> bool:
    """Return whether a suggestion replaces text around the cursor and in its line only, as LSP demands."""
    start, end = document.line_span(document.line_of(cursor))
    return start <= suggestion.start <= cursor <= suggestion.end <= end


def _make_item(client: EditorClient, document: Document, cursor: int, suggestion: Suggestion) -> types.CompletionItem:
    replaced_text = decode(document.data[suggestion.start : cursor])
    text = suggestion.text
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [text]
    is_cut = len(lines) > 1 or len(lines[0]) > MAX_LABEL_CHARS
    return types.CompletionItem(
        label=lines[0][:MAX_LABEL_CHARS] + (" …" if is_cut else ""),
        kind=types.CompletionItemKind.Text,
        detail="lsp-harness",
        documentation=types.MarkupContent(types.MarkupKind.Markdown, "\n".join(fence_code(text, document.language))),
        # the text that is there already, so that the filter of the client accepts the item
        filter_text=replaced_text or None,
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs if client.capabilities.insert_as_is else None,
        text_edit=types.TextEdit(
            lsp_range(document, suggestion.start, suggestion.end, client.capabilities.encoding), text
        ),
        command=types.Command("Accepted", suggestion_commands.accepted.name, arguments=[document.uri, suggestion.id]),
    )
