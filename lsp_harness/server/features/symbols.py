"""Declarations and uses of names: in a text, in the workspace, and of the name at a place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_harness.harness.symbol_verbs import SymbolLocation
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature, no_document
from lsp_harness.server.lsp_conversion import SYMBOL_KINDS, byte_offset, lsp_location, lsp_range
from lsp_harness.text.position import Encoding, encode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration


@feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
async def list_declarations(
    client: EditorClient, snapshot: Snapshot, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """Return the declarations of a text, as a tree if the client supports trees."""
    await client.harness.documents.tree_when_ready(snapshot.document)
    declarations = client.harness.documents.declarations(snapshot.document)
    return (
        _build_tree(client, snapshot, declarations)
        if client.capabilities.symbol_trees
        else _list(client, snapshot, declarations)
    )


def _build_tree(
    client: EditorClient, snapshot: Snapshot, declarations: "Sequence[Declaration]"
) -> list[types.DocumentSymbol]:
    children: list[list[types.DocumentSymbol]] = []
    roots: list[types.DocumentSymbol] = []
    for declaration in declarations:
        children.append([])
        symbol = types.DocumentSymbol(
            name=f"{declaration.owner}.{declaration.name}" if declaration.owner else declaration.name,
            kind=SYMBOL_KINDS[declaration.kind],
            range=_make_range(client, snapshot, declaration.start, declaration.end),
            selection_range=_make_range(
                client, snapshot, declaration.name_start, declaration.name_start + len(encode(declaration.name))
            ),
            children=children[-1],
        )
        # LSP does not allow an empty name, which a declaration has while the user types it
        if declaration.name:
            (children[declaration.parent] if declaration.parent >= 0 else roots).append(symbol)
    return roots


def _list(
    client: EditorClient, snapshot: Snapshot, declarations: "Sequence[Declaration]"
) -> list[types.SymbolInformation]:
    from lsp_harness.syntax.symbols.declarations import qualified_name

    return [
        types.SymbolInformation(
            name=declaration.name,
            kind=SYMBOL_KINDS[declaration.kind],
            location=types.Location(
                snapshot.document.uri, _make_range(client, snapshot, declaration.start, declaration.end)
            ),
            container_name=qualified_name(declarations, declaration).rpartition(".")[0] or None,
        )
        for declaration in declarations
        if declaration.name
    ]


def _make_range(client: EditorClient, snapshot: Snapshot, start: int, end: int) -> types.Range:
    return lsp_range(snapshot.document, start, end, client.capabilities.encoding)


@feature(types.WORKSPACE_SYMBOL, document_uri=no_document)
async def find_declarations(
    client: EditorClient, snapshot: Snapshot | None, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    """Find declarations in the workspace folders by a part of their names."""
    symbols = await client.harness.symbols.search(params.query)
    return [_symbol_information(symbol, client.capabilities.encoding) for symbol in symbols]


def _symbol_information(symbol: SymbolLocation, encoding: Encoding) -> types.SymbolInformation:
    kind, location = SYMBOL_KINDS[symbol.kind], lsp_location(symbol, encoding)
    return types.SymbolInformation(
        name=symbol.name, kind=kind, location=location, container_name=symbol.container or None
    )


@feature(types.TEXT_DOCUMENT_DEFINITION, is_offered=lambda capabilities: capabilities.fallback)
async def find_definition(
    client: EditorClient, snapshot: Snapshot, params: types.DefinitionParams
) -> list[types.Location]:
    """Find the declaration of a name by names and imports.

    It is for clients that ask this server only if no other server answers.
    """
    offset = byte_offset(snapshot.document, params.position, client.capabilities.encoding)
    symbols = await client.harness.symbols.definition(snapshot, offset)
    return [lsp_location(symbol, client.capabilities.encoding) for symbol in symbols]


@feature(types.TEXT_DOCUMENT_REFERENCES, is_offered=lambda capabilities: capabilities.fallback)
async def find_references(
    client: EditorClient, snapshot: Snapshot, params: types.ReferenceParams
) -> list[types.Location]:
    """Find the uses of a name by names and imports.

    It is for clients that ask this server only if no other server answers.
    """
    offset = byte_offset(snapshot.document, params.position, client.capabilities.encoding)
    includes_declaration = params.context.include_declaration
    symbols = await client.harness.symbols.references(snapshot, offset, include_declaration=includes_declaration)
    return [lsp_location(symbol, client.capabilities.encoding) for symbol in symbols]
