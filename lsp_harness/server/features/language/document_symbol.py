"""`textDocument/documentSymbol`: the declarations of a text, as a tree if the client supports trees."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import SYMBOL_KINDS, lsp_range
from lsp_harness.text.position import encode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration

METHOD = types.TEXT_DOCUMENT_DOCUMENT_SYMBOL


async def run(
    client: EditorClient, snapshot: Snapshot, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    await client.harness.documents.tree_when_ready(snapshot.document)
    declarations = client.harness.documents.declarations(snapshot.document)
    return (
        _tree(client, snapshot, declarations)
        if client.capabilities.symbol_trees
        else _list(client, snapshot, declarations)
    )


def _tree(
    client: EditorClient, snapshot: Snapshot, declarations: "Sequence[Declaration]"
) -> list[types.DocumentSymbol]:
    children: list[list[types.DocumentSymbol]] = []
    roots: list[types.DocumentSymbol] = []
    for declaration in declarations:
        children.append([])
        symbol = types.DocumentSymbol(
            name=f"{declaration.owner}.{declaration.name}" if declaration.owner else declaration.name,
            kind=SYMBOL_KINDS[declaration.kind],
            range=_range(client, snapshot, declaration.start, declaration.end),
            selection_range=_range(
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
                snapshot.document.uri, _range(client, snapshot, declaration.start, declaration.end)
            ),
            container_name=qualified_name(declarations, declaration).rpartition(".")[0] or None,
        )
        for declaration in declarations
        if declaration.name
    ]


def _range(client: EditorClient, snapshot: Snapshot, start: int, end: int) -> types.Range:
    return lsp_range(snapshot.document, start, end, client.capabilities.encoding)
