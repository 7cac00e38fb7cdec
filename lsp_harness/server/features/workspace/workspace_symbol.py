"""`workspace/symbol`: find declarations in the workspace folders by a part of their names."""

from lsprotocol import types

from lsp_harness.harness.symbol_verbs import SymbolLocation
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
    symbols = await client.harness.symbols.search(params.query)
    return [_symbol_information(symbol, client.capabilities.encoding) for symbol in symbols]


def _symbol_information(symbol: SymbolLocation, encoding: Encoding) -> types.SymbolInformation:
    kind, location = SYMBOL_KINDS[symbol.kind], lsp_location(symbol, encoding)
    return types.SymbolInformation(
        name=symbol.name, kind=kind, location=location, container_name=symbol.container or None
    )
