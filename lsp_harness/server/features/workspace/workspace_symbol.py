"""`workspace/symbol`: find declarations in the workspace folders by a part of their names."""

from lsprotocol import types

from lsp_harness.harness import symbol_queries
from lsp_harness.harness.symbol_queries import Spot
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import SYMBOL_KINDS, lsp_location
from lsp_harness.text.position import Encoding
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_SYMBOL


def document_uri(params: types.WorkspaceSymbolParams) -> None:
    """Return None: the request is about all documents."""


async def run(
    client: EditorClient, snapshot: Snapshot | None, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    spots = await symbol_queries.in_workspace(client.harness, params.query)
    return [_symbol_information(spot, client.capabilities.encoding) for spot in spots]


def _symbol_information(spot: Spot, encoding: Encoding) -> types.SymbolInformation:
    kind, location = SYMBOL_KINDS[spot.kind], lsp_location(spot, encoding)
    return types.SymbolInformation(name=spot.name, kind=kind, location=location, container_name=spot.within or None)
