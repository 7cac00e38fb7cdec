"""A symbol with all that the index knows about it."""

from dataclasses import dataclass

from lsp_harness.index.graph.symbol_graph import SymbolGraph, build_graph
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.index.symbol_table import Symbol


@dataclass(frozen=True, slots=True)
class SymbolOverview:
    """The relations of a symbol, its signature on one line, and the first line of its documentation."""

    graph: SymbolGraph
    signature: str
    doc_line: str


def read_overview(view: IndexView, symbol: Symbol) -> SymbolOverview:
    """Return all that the index knows about a symbol."""
    return SymbolOverview(build_graph(view, symbol), view.texts.read_signature(symbol), read_doc_line(view, symbol))
