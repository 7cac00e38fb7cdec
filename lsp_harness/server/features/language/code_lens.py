"""`textDocument/codeLens`: the verdict about the last accepted or saved edit, above the function that it changed.

There is a lens only for the version that was verified. The command of the lens shows the document of the verdict.
"""

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.commands import why_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import lsp_range, verdict_uri
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_CODE_LENS


def is_offered(capabilities: ClientCapabilities) -> bool:
    return capabilities.code_lens


def answer_out_of_sync(error: DocumentOutOfSync) -> list[types.CodeLens]:
    """Return no lenses."""
    return []


async def run(client: EditorClient, snapshot: Snapshot, params: types.CodeLensParams) -> list[types.CodeLens]:
    document = snapshot.document
    lens = client.harness.verification.find_lens(document)
    if lens is None:
        return []
    line_range = lsp_range(document, lens.offset, lens.offset, client.capabilities.encoding)
    command = types.Command(lens.title, why_command.COMMAND.name, arguments=[verdict_uri(lens.verdict)])
    return [types.CodeLens(line_range, command)]
