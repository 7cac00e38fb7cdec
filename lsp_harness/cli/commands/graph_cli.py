"""`lsp-harness index graph`: what a symbol calls and extends, and what calls, extends, tests and imports it."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.project_folder import Folder, project_at
from lsp_harness.harness.project.symbol_report import Relation, RelationReport, report_relations

SECTIONS = ("calls", "called_by", "inherits", "inherited_by", "tests")
"""The relations of a symbol, in the order of the output. Each is an attribute of `RelationReport` and a JSON key."""


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
    reports, count = asyncio.run(report_relations(project_at(folder), symbol))
    if json:
        print_json([_report_json(report) for report in reports])
    else:
        say("\n\n".join("\n".join(_report_lines(report)) for report in reports))
        if count > len(reports):
            say(f"\nand {count - len(reports)} more have this name; write FILE:NAME for one of them")
    return 0


def _report_lines(report: RelationReport) -> Iterator[str]:
    doc = f"  {report.doc}" if report.doc else ""
    yield f"{report.path}:{report.line + 1} {report.symbol}{doc}"
    for section in SECTIONS:
        if relations := getattr(report, section):
            yield section.replace("_", " ")
            yield from map(_relation_line, relations)
    if report.imported_by:
        yield "imported by"
        yield from (f"  {path}" for path in report.imported_by)
    if report.cycles:
        yield "import cycles"
        yield from (f"  {' > '.join(cycle)}" for cycle in report.cycles)


def _relation_line(relation: Relation) -> str:
    line = f"  {relation.path}:{relation.line + 1} {relation.name or '(outside of functions)'}"
    if relation.through:
        line += f", through {relation.through}"
    return line if relation.is_certain else f"{line}  unresolved"


def _report_json(report: RelationReport) -> dict[str, Any]:
    """Return the JSON of a report. Its keys are part of the command's interface."""
    row = asdict(report)
    for section in SECTIONS:
        for relation in row[section]:
            relation["sure"] = relation.pop("is_certain")
    return row
