"""`textDocument/references`: a best effort, for clients that ask it only where no other server answers."""

from lsprotocol import types

from lsp_harness.harness import navigation
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server.abilities import Abilities
from lsp_harness.server.client import Client
from lsp_harness.server.convert import location, offset

METHOD = types.TEXT_DOCUMENT_REFERENCES


def offered(able: Abilities) -> bool:
    return able.fallback


async def run(client: Client, snapshot: Snapshot, params: types.ReferenceParams) -> list[types.Location]:
    at, wanted = offset(snapshot.document, params.position, client.able.encoding), params.context.include_declaration
    found = await navigation.references(client.harness, snapshot, at, declaration=wanted)
    return [location(spot, client.able.encoding) for spot in found]
