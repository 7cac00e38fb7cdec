"""`textDocument/completion`: the same suggestions in the popup menu, for clients without ghost text.

The list is never complete, so that the client asks again as one types; each item shows what it would insert.
"""

from lsprotocol import types

from lsp_harness.errors import ConfigError, EngineError, ModelError
from lsp_harness.server import command_names
from lsp_harness.server.client_capabilities import Abilities
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import offset, range_of
from lsp_harness.session.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.markdown import fence_code
from lsp_harness.text.position import decode
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_COMPLETION
LABEL = 60


def offered(able: Abilities) -> bool:
    return not able.inline_completion


async def run(client: Client, snapshot: Snapshot, params: types.CompletionParams) -> types.CompletionList:
    document = snapshot.document
    cursor = offset(document, params.position, client.able.encoding)
    suggestions: list[Suggestion] = []
    if not document.is_binary:
        try:
            suggestions = await client.harness.completions.complete(snapshot, cursor)
            client.content()
        except (ConfigError, EngineError, ModelError) as error:
            if client.first_complaint(error.message):
                raise
    items = [
        _item(client, document, cursor, suggestion) for suggestion in suggestions if _fits(document, cursor, suggestion)
    ]
    return types.CompletionList(is_incomplete=True, items=items)


def _fits(document: Document, cursor: int, suggestion: Suggestion) -> bool:
    """A completion may only replace text around the cursor on the cursor's own line."""
    start, end = document.line_span(document.line_of(cursor))
    return start <= suggestion.start <= cursor <= suggestion.end <= end


def _item(client: Client, document: Document, cursor: int, suggestion: Suggestion) -> types.CompletionItem:
    typed = decode(document.data[suggestion.start : cursor])
    text = suggestion.text
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [text]
    more = len(lines) > 1 or len(lines[0]) > LABEL
    return types.CompletionItem(
        label=lines[0][:LABEL] + (" …" if more else ""),
        kind=types.CompletionItemKind.Text,
        detail="lsp-harness",
        documentation=types.MarkupContent(types.MarkupKind.Markdown, "\n".join(fence_code(text, document.language))),
        # what stands there already, so that the client's own filter lets the item through
        filter_text=typed or None,
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs if client.able.insert_as_is else None,
        text_edit=types.TextEdit(range_of(document, suggestion.start, suggestion.end, client.able.encoding), text),
        command=types.Command("Accepted", command_names.ACCEPTED, arguments=[document.uri, suggestion.id]),
    )
