"""`textDocument/definition`: find the declaration of a name by names and imports.

It is for clients that ask this server only if no other server answers.
"""

from lsprotocol import types

from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import byte_offset, lsp_location
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_DEFINITION


def is_offered(capabilities: ClientCapabilities) -> bool:
    return capabilities.fallback


async def run(client: EditorClient, snapshot: Snapshot, params: types.DefinitionParams) -> list[types.Location]:
    offset = byte_offset(snapshot.document, params.position, client.capabilities.encoding)
    symbols = await client.harness.symbols.definition(snapshot, offset)
    return [lsp_location(symbol, client.capabilities.encoding) for symbol in symbols]
