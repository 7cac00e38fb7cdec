"""`workspace/textDocumentContent`: the documents of verdicts, by their URIs."""

from lsprotocol import types

from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import verdict_name
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_TEXT_DOCUMENT_CONTENT


def document(params: types.TextDocumentContentParams) -> None:
    """None of the client's own."""


async def run(
    client: Client, snapshot: Snapshot | None, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    return types.TextDocumentContentResult(text=client.harness.turns.verdict(verdict_name(params.uri)))
