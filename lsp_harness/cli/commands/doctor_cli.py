"""`lsp-harness doctor`: what works on this machine, what does not, and how to repair it."""

from collections.abc import Iterator
from pathlib import Path

from lsp_harness.cli.console import JsonOption, console, make_encodable_mark, print_json
from lsp_harness.cli.doctor.doctor_engine import check_background, check_engines
from lsp_harness.cli.doctor.doctor_index import check_index
from lsp_harness.cli.doctor.doctor_installation import (
    check_library,
    check_model,
    check_packages,
    check_project_python,
    check_project_tools,
    check_settings,
    check_tools,
)
from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.cli.doctor.doctor_surroundings import check_surroundings
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError

MARKS = {"ok": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}


def doctor(*, json: JsonOption = False) -> int:
    """Check this installation and say how to repair it.

    Exits 1 if something that is needed is missing.
    """
    rows = list(_check_all(Path.cwd()))
    if json:
        print_json([row._asdict() for row in rows])
    else:
        from rich.table import Table

        table = Table(box=None, show_header=False)
        for row in rows:
            table.add_row(make_encodable_mark(MARKS[row.state]), row.what, row.says.replace("[", "\\["))
        console().print(table)
    return 1 if any(row.state == "bad" for row in rows) else 0


def _check_all(folder: Path) -> Iterator[DoctorRow]:
    config, problems = load(folder)
    yield from check_packages()
    yield from check_surroundings()
    yield from check_settings(folder, problems)
    yield from check_model(config)
    yield from check_library(config)
    yield from check_engines(config)
    yield from check_background(config)
    try:
        yield from check_index(folder, config)
    except (HarnessError, OSError) as error:
        yield DoctorRow("note", "index", getattr(error, "message", str(error)))
    yield from check_tools()
    yield from check_project_python(folder, config)
    yield from check_project_tools(folder, config.knowledge.python)
