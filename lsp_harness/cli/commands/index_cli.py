"""`lsp-harness index`: the index of a folder's code, its graph of symbols and its vectors."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter
from rich.table import Table

from lsp_harness.cli.console import JsonOption, console, print_json, require_positive, say, warn
from lsp_harness.cli.project_folder import Folder, load_project_at
from lsp_harness.project.command_project import find_index_place
from lsp_harness.project.index_status import IndexStatus, VectorStatus, read_index_status
from lsp_harness.project.symbol_reports import (
    PatternReport,
    SymbolOverview,
    report_code,
    report_patterns,
    report_relations,
)
from lsp_harness.text.wording import format_count

MAX_LEFT_OUT = 20
"""Number of files that the table lists as left out."""


def status_json(status: IndexStatus) -> dict[str, Any]:
    """Return the JSON of a status. Its keys are part of the command's interface."""
    contents, vectors = status.contents, status.vectors
    return {
        "root": str(status.place.root),
        "database": str(status.place.database),
        "bytes": status.size_bytes,
        "kept": status.is_updated,
        "files": contents.files,
        "languages": contents.languages,
        "symbols": contents.symbols,
        "imports": contents.imports,
        "chunks": contents.chunks,
        "vectors": vectors and {"model": vectors.model, "dimensions": vectors.dimensions, "count": vectors.count},
        "left_out": contents.left_out,
    }


def show_status(status: IndexStatus) -> None:
    """Print a status as a table."""
    table, contents = Table(box=None, show_header=False), status.contents
    languages = ", ".join(f"{count:,} {language}" for language, count in contents.languages.items())
    for name, value in (
        ("folder", str(status.place.root)),
        ("database", f"{status.place.database}, {status.size_bytes / 1e6:.1f} MB"),
        ("updated by", "a server that has this folder open" if status.is_updated else "no process at the moment"),
        ("files", f"{contents.files:,}" + (f": {languages}" if languages else "")),
        ("symbols", f"{contents.symbols:,}"),
        ("imports", f"{contents.imports:,}"),
        ("chunks", f"{contents.chunks:,}"),
        ("vectors", _describe_vectors(status.vectors)),
        *(("left out", f"{path}: {reason}") for path, reason in list(contents.left_out.items())[:MAX_LEFT_OUT]),
    ):
        table.add_row(name, value.replace("[", "\\["))
    console().print(table)
    if len(contents.left_out) > MAX_LEFT_OUT:
        say(f"and {len(contents.left_out) - MAX_LEFT_OUT:,} more are left out; --json shows all")


def _describe_vectors(vectors: VectorStatus | None) -> str:
    if vectors is None:
        return "none: search uses names and words only (BM25); lsp-harness doctor says why"
    return f"{format_count(vectors.count, 'vector')} of {vectors.dimensions} numbers, made with {vectors.model}"


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
    overviews, count = asyncio.run(report_relations(load_project_at(folder), symbol))
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


def embed(folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """Let search use meaning as well: make a vector of each text in the index that has none.

    This needs no engine. If it is interrupted, the vectors made so far are kept.
    """
    from lsp_harness.project.vectors import build_vectors

    build = asyncio.run(build_vectors(load_project_at(folder)))
    if json:
        print_json(asdict(build))
    else:
        made, texts = format_count(build.made, "vector"), format_count(build.texts, "text")
        say(f"{made} made with {build.model}; all {texts} have one")
    return 0


app = cyclopts.App(name="index", help="Inspect and rebuild the index of a folder's code.")
app.command(graph)
app.command(embed)


@app.command
def status(folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """Show what the index of a folder contains, which files were left out and why, and which process updates it."""
    contents = asyncio.run(read_index_status(find_index_place(folder)))
    if json:
        print_json(status_json(contents))
    else:
        show_status(contents)
    return 0


@app.command
def rebuild(folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """Delete the index of a folder and make a new one.

    If a server has the folder open, the server makes the new index. Vectors of texts that still exist are kept; run
    `lsp-harness index embed` to make the missing vectors.
    """
    from lsp_harness.project.project_index import rebuild_index
    from lsp_harness.project.vectors import EMBED_COMMAND

    project = load_project_at(folder)
    result = rebuild_index(project)
    if result is None:
        say("the server that has this folder open makes a new index")
    elif json:
        print_json(status_json(asyncio.run(read_index_status(project.place))))
    else:
        say(f"{format_count(result.files, 'file')}, {result.parsed:,} of them read")
        if count := result.texts_without_vector:
            warn(f"{format_count(count, 'text')} without a vector; {EMBED_COMMAND} makes the missing vectors")
    return 0


@app.command
def context(symbol: str, folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """Print the code of a symbol, with the imports that it needs.

    Parameters
    ----------
    symbol
        Its name. If several symbols have this name, write the class or the file as well: `Config.parse` or
        `src/config.py:Config.parse`.
    """
    reports = asyncio.run(report_code(load_project_at(folder), symbol))
    if json:
        print_json([asdict(report.extract) | {"doc": report.doc} for report in reports])
    else:
        say(
            "\n\n".join(
                f"{report.comment} {report.extract.path}:{report.extract.line + 1}\n{report.extract}"
                for report in reports
            )
        )
    return 0


@app.command
def patterns(
    folder: Folder = Path(),
    *,
    limit: Annotated[int, Parameter(help="The largest number of patterns.", validator=require_positive)] = 20,
    json: JsonOption = False,
) -> int:
    """Print the kinds of code that the folder has many of, such as handlers or tests, each with an example."""
    reports = asyncio.run(report_patterns(load_project_at(folder), limit))
    if json:
        print_json([_pattern_json(report) for report in reports])
    else:
        for report in reports:
            say(f"{report.count:,} {report.name}: {report.path}:{report.line + 1} {report.symbol}")
    return 0 if reports else 1


def _pattern_json(report: PatternReport) -> dict[str, Any]:
    """Return the JSON of a pattern. Its keys are part of the command's interface."""
    example = {"path": report.path, "line": report.line, "symbol": report.symbol}
    return {"name": report.name, "language": report.language, "count": report.count, "representative": example}
