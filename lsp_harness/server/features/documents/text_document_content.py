"""`workspace/textDocumentContent`: return the document of a verdict by its URI."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import verdict_name
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_TEXT_DOCUMENT_CONTENT


def document_uri(params: types.TextDocumentContentParams) -> None:
    """Return None: the request is about no document of the client."""


async def run(
    client: EditorClient, snapshot: Snapshot | None, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    return types.TextDocumentContentResult(text=client.harness.turns.verdict(verdict_name(params.uri)))
