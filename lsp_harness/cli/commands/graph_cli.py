"""`lsp-harness index graph`: what a symbol calls and extends, and what calls, extends, tests and imports it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsp_harness.cli.console import AsJson, as_json, say
from lsp_harness.cli.fresh_index import Folder, called, fresh, wanted
from lsp_harness.index.graph.symbol_graph import Edge, SymbolGraph
from lsp_harness.index.graph.symbol_graph import build_graph as graph_of
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.store.database import Reader

MOST = 8
"""Symbols of one name that are told of."""


def graph(
    symbol: str,
    folder: Folder = Path(),
    *,
    json: AsJson = False,
) -> int:
    """Print what a symbol calls and extends, and what calls, extends, tests and imports it.

    A link that imports, scopes and written types do not prove is marked `unresolved`.

    Parameters
    ----------
    symbol
        Its name. If several symbols have this name, write the class or the file as well: `Config.parse` or
        `src/config.py:Config.parse`.
    """
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        view = IndexView(reader)
        named = called(view, symbol)
        found = [
            (graph_of(view, one), view.texts.read_signature(one), read_doc_line(view, one)) for one in named[:MOST]
        ]
    if json:
        as_json([_as_row(*one) for one in found])
    else:
        say("\n\n".join("\n".join(_lines(*one)) for one in found))
        if named[MOST:]:
            say(f"\nand {len(named) - MOST} more have this name; write FILE:NAME for one of them")
    return 0


def _lines(found: SymbolGraph, _: str, said: str) -> Iterator[str]:
    it = found.symbol
    yield f"{it.path}:{it.line + 1} {it.qualified}" + f"  {said}" * bool(said)
    for name, edges in _sections(found).items():
        if edges:
            yield name
            yield from map(_line, edges)
    if found.imported_by:
        yield "imported by"
        yield from (f"  {path}" for path in found.imported_by)
    if found.cycles:
        yield "import cycles"
        yield from (f"  {' > '.join(one)}" for one in found.cycles)


def _line(one: Edge) -> str:
    where = f"  {one.path}:{one.line + 1} {one.name or '(outside of functions)'}"
    return where + f", through {one.through}" * bool(one.through) + "  unresolved" * (not one.is_certain)


def _sections(found: SymbolGraph) -> dict[str, tuple[Edge, ...]]:
    return {
        "calls": found.calls,
        "called by": found.called_by,
        "inherits": found.inherits,
        "inherited by": found.inherited_by,
        "tests": found.tests,
    }


def _as_row(found: SymbolGraph, signature: str, said: str) -> dict[str, Any]:
    it = found.symbol
    return {
        **{name: getattr(it, name) for name in ("path", "line", "kind")},
        "symbol": it.qualified,
        "signature": signature,
        "doc": said,
        **{name.replace(" ", "_"): [_edge_row(edge) for edge in edges] for name, edges in _sections(found).items()},
        "imported_by": found.imported_by,
        "cycles": found.cycles,
    }


def _edge_row(edge: Edge) -> dict[str, Any]:
    """Return the JSON of an edge. Its keys are part of the command's interface."""
    row = asdict(edge)
    row["sure"] = row.pop("is_certain")
    return row
