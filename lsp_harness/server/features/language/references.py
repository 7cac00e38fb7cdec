"""`textDocument/references`: a best effort, for clients that ask it only where no other server answers."""

from lsprotocol import types

from lsp_harness.server.client_capabilities import Abilities
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import location, offset
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.TEXT_DOCUMENT_REFERENCES


def offered(able: Abilities) -> bool:
    return able.fallback


async def run(client: Client, snapshot: Snapshot, params: types.ReferenceParams) -> list[types.Location]:
    at, wanted = offset(snapshot.document, params.position, client.able.encoding), params.context.include_declaration
    found = await client.harness.symbols.references(snapshot, at, include_declaration=wanted)
    return [location(spot, client.able.encoding) for spot in found]
