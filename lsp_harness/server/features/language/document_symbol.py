"""`textDocument/documentSymbol`: what a text declares, in the language's own order; as a tree where the client shows one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import SYMBOL_KINDS, range_of
from lsp_harness.text.position import encode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.syntax.symbols.declarations import Declaration

METHOD = types.TEXT_DOCUMENT_DOCUMENT_SYMBOL


async def run(
    client: Client, snapshot: Snapshot, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    await client.harness.documents.tree_when_ready(snapshot.document)
    declared = client.harness.documents.declarations(snapshot.document)
    return _tree(client, snapshot, declared) if client.able.symbol_trees else _list(client, snapshot, declared)


def _tree(client: Client, snapshot: Snapshot, declared: "Sequence[Declaration]") -> list[types.DocumentSymbol]:
    inside: list[list[types.DocumentSymbol]] = []
    top: list[types.DocumentSymbol] = []
    for one in declared:
        inside.append([])
        name = types.DocumentSymbol(
            name=f"{one.owner}.{one.name}" if one.owner else one.name,
            kind=SYMBOL_KINDS[one.kind],
            range=_range(client, snapshot, one.start, one.end),
            selection_range=_range(client, snapshot, one.name_start, one.name_start + len(encode(one.name))),
            children=inside[-1],
        )
        # what has no name yet must not be sent
        if one.name:
            (inside[one.parent] if one.parent >= 0 else top).append(name)
    return top


def _list(client: Client, snapshot: Snapshot, declared: "Sequence[Declaration]") -> list[types.SymbolInformation]:
    from lsp_harness.syntax.symbols.declarations import qualified_name

    return [
        types.SymbolInformation(
            name=one.name,
            kind=SYMBOL_KINDS[one.kind],
            location=types.Location(snapshot.document.uri, _range(client, snapshot, one.start, one.end)),
            container_name=qualified_name(declared, one).rpartition(".")[0] or None,
        )
        for one in declared
        if one.name
    ]


def _range(client: Client, snapshot: Snapshot, start: int, end: int) -> types.Range:
    return range_of(snapshot.document, start, end, client.able.encoding)
