"""`lsp-harness index graph`: what a symbol calls and extends, and what calls, extends, tests and imports it."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.project_folder import Folder, project_at
from lsp_harness.project.symbol_reports import SymbolOverview, report_relations

SECTIONS = ("calls", "called_by", "inherits", "inherited_by", "tests")
"""The relations of a symbol, in the order of the output. Each is an attribute of `SymbolGraph` and a JSON key."""


def graph(
    symbol: str,
    folder: Folder = Path(),
    *,
    json: JsonOption = False,
) -> int:
    """Print what a symbol calls and extends, and what calls, extends, tests and imports it.

    A link that imports, scopes and written types do not prove is marked `unresolved`.

    Parameters
    ----------
    symbol
        Its name. If several symbols have this name, write the class or the file as well: `Config.parse` or
        `src/config.py:Config.parse`.
    """
    overviews, count = asyncio.run(report_relations(project_at(folder), symbol))
    if json:
        print_json([_overview_json(overview) for overview in overviews])
    else:
        say("\n\n".join("\n".join(_overview_lines(overview)) for overview in overviews))
        if count > len(overviews):
            say(f"\nand {count - len(overviews)} more have this name; write FILE:NAME for one of them")
    return 0


def _overview_lines(overview: SymbolOverview) -> Iterator[str]:
    graph, symbol = overview.graph, overview.graph.symbol
    doc = f"  {overview.doc_line}" if overview.doc_line else ""
    yield f"{symbol.path}:{symbol.line + 1} {symbol.qualified}{doc}"
    for section in SECTIONS:
        if edges := getattr(graph, section):
            yield section.replace("_", " ")
            for edge in edges:
                through = f", through {edge.through}" if edge.through else ""
                mark = "" if edge.is_certain else "  unresolved"
                yield f"  {edge.path}:{edge.line + 1} {edge.name or '(outside of functions)'}{through}{mark}"
    if graph.imported_by:
        yield "imported by"
        yield from (f"  {path}" for path in graph.imported_by)
    if graph.cycles:
        yield "import cycles"
        yield from (f"  {' > '.join(cycle)}" for cycle in graph.cycles)


def _overview_json(overview: SymbolOverview) -> dict[str, Any]:
    """Return the JSON of an overview. Its keys are part of the command's interface."""
    symbol, relations = overview.graph.symbol, asdict(overview.graph)
    del relations["symbol"]
    for section in SECTIONS:
        for edge in relations[section]:
            edge["sure"] = edge.pop("is_certain")
    row = {"path": symbol.path, "line": symbol.line, "kind": symbol.kind, "symbol": symbol.qualified}
    return row | {"signature": overview.signature, "doc": overview.doc_line} | relations
