"""`workspace/symbol`: what the folders of the workspace declare by a name like this."""

from lsprotocol import types

from lsp_harness.harness.symbols.symbol_location import SymbolLocation
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import SYMBOL_KINDS, location
from lsp_harness.text.position import Encoding
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_SYMBOL


def document(params: types.WorkspaceSymbolParams) -> None:
    """None: it is about all of them."""


async def run(
    client: Client, snapshot: Snapshot | None, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    found = await client.harness.symbols.search(params.query)
    return [_shown(spot, client.able.encoding) for spot in found]


def _shown(spot: SymbolLocation, encoding: Encoding) -> types.SymbolInformation:
    kind, where = SYMBOL_KINDS[spot.kind], location(spot, encoding)
    return types.SymbolInformation(name=spot.name, kind=kind, location=where, container_name=spot.container or None)
