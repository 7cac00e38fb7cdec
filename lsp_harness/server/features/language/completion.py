"""`textDocument/completion`: the same suggestions in the completion menu, for clients without ghost text.

The list is never complete, so that the client sends a new request with the next key. The documentation of an item is
the text that it inserts.
"""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.kernel.results import Suggestion
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.commands import accepted_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import byte_offset, lsp_range
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.text.wording import fence_code
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_COMPLETION
MAX_LABEL_CHARS = 60


def is_offered(capabilities: ClientCapabilities) -> bool:
    return not capabilities.inline_completion


async def run(client: EditorClient, snapshot: Snapshot, params: types.CompletionParams) -> types.CompletionList:
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
        _item(client, document, cursor, suggestion)
        for suggestion in suggestions
        if _is_in_cursor_line(document, cursor, suggestion)
    ]
    return types.CompletionList(is_incomplete=True, items=items)


def _is_in_cursor_line(document: Document, cursor: int, suggestion: Suggestion) -> bool:
    """Return whether a suggestion replaces text around the cursor and in its line only, as LSP demands."""
    start, end = document.line_span(document.line_of(cursor))
    return start <= suggestion.start <= cursor <= suggestion.end <= end


def _item(client: EditorClient, document: Document, cursor: int, suggestion: Suggestion) -> types.CompletionItem:
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
        command=types.Command("Accepted", accepted_command.COMMAND.name, arguments=[document.uri, suggestion.id]),
    )
