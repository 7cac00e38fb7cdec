"""`textDocument/references`: find the uses of a name by names and imports.

It is for clients that ask this server only if no other server answers.
"""

from lsprotocol import types

from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import byte_offset, lsp_location
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_REFERENCES


def is_offered(capabilities: ClientCapabilities) -> bool:
    return capabilities.fallback


async def run(client: EditorClient, snapshot: Snapshot, params: types.ReferenceParams) -> list[types.Location]:
    offset = byte_offset(snapshot.document, params.position, client.capabilities.encoding)
    includes_declaration = params.context.include_declaration
    symbols = await client.harness.symbols.references(snapshot, offset, include_declaration=includes_declaration)
    return [lsp_location(symbol, client.capabilities.encoding) for symbol in symbols]
