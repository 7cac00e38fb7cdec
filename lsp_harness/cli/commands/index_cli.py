"""`lsp-harness index`: the index of a folder's code."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.commands.embed_cli import embed
from lsp_harness.cli.commands.graph_cli import graph
from lsp_harness.cli.console import JsonOption, print_json, require_positive, say, warn
from lsp_harness.cli.index_table import show_status, status_json
from lsp_harness.cli.project_folder import Folder, project_at
from lsp_harness.project.command_project import find_index_place
from lsp_harness.project.index_status import read_index_status
from lsp_harness.project.symbol_reports import PatternReport, report_code, report_patterns
from lsp_harness.text.wording import format_count

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

    project = project_at(folder)
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
    reports = asyncio.run(report_code(project_at(folder), symbol))
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
    reports = asyncio.run(report_patterns(project_at(folder), limit))
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
