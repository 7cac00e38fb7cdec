"""`lsp-harness doctor`: what works here, what does not, and how to repair it."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lsp_harness.cli.commands.engine_cli import running
from lsp_harness.cli.console import AsJson, as_json, console, mark
from lsp_harness.cli.doctor.doctor_servers import servers
from lsp_harness.cli.doctor.doctor_surroundings import Finding, ignore_problems, surroundings
from lsp_harness.cli.doctor.engine_report import limits
from lsp_harness.config.load import load, user_config_file
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.target import is_remote
from lsp_harness.process import tool_run


def doctor(*, json: AsJson = False) -> int:
    """Check this installation and say how to repair it.

    Exits 1 if something that is needed is missing.
    """
    rows = [*_python(), *map(_as_row, surroundings()), *_settings(), *_model(), *_engine(), *_index(), *_tools()]
    if json:
        as_json(rows)
    else:
        from rich.table import Table

        marks = {"ok": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}
        table = Table(box=None, show_header=False)
        for row in rows:
            table.add_row(mark(marks[row["state"]]), row["what"], row["says"].replace("[", "\\["))
        console().print(table)
    return 1 if any(row["state"] == "bad" for row in rows) else 0


def _as_row(found: Finding) -> dict[str, Any]:
    return _row(*found)


def _row(state: str, what: str, says: str) -> dict[str, Any]:
    return {"state": state, "what": what, "says": says}


def _python() -> list[dict[str, Any]]:
    rows = [_row("ok", "python", f"{platform.python_version()} ({sys.executable})")]
    for name in ("pygls", "llama-cpp-python", "tree-sitter"):
        try:
            rows.append(_row("ok", name, version(name)))
        except PackageNotFoundError:
            rows.append(_row("bad", name, "not installed; reinstall lsp-harness"))
    return rows


def _settings() -> list[dict[str, Any]]:
    _, problems = load(Path.cwd())
    problems += ignore_problems(Path.cwd())
    if not problems:
        return [
            _row("ok", "settings", f"{user_config_file()} and the settings files of this folder contain no mistakes")
        ]
    return [_row("note", "settings", f"{p.file or 'environment'}:{p.line + 1}: {p.message}") for p in problems]


def _model() -> list[dict[str, Any]]:
    config, _ = load(Path.cwd())
    if config.engine.script:
        return [_row("note", "model", f"scripted replies from {config.engine.script}, no model")]
    if is_remote(config.engine):
        return [_row(*found) for found in servers(config.engine)]
    try:
        return [_row("ok", "model", f"{config.model.path}: {model_files.resolve_model(config.model.path)}")]
    except HarnessError as error:
        return [_row("bad", "model", error.message)]


def _engine() -> list[dict[str, Any]]:
    try:
        found = running()
    except HarnessError as error:
        return [_row("bad", "engine", error.message)]
    if not found and is_remote(load(Path.cwd())[0].engine):
        return [_row("ok", "engine", "not used: the settings name a remote server")]
    if not found:
        return [_row("ok", "engine", "not running; the first request starts it")]
    rows: list[dict[str, Any]] = []
    for row in found:
        props = row["props"]
        if silent := row.get("silent"):
            says = f"process {row['pid']}: {silent}; lsp-harness engine stop ends it"
            rows.append(_row("bad", "engine", says))
            continue
        rows.append(
            _row("ok", "engine", f"{props.get('model_alias')} in process {row['pid']}, {row['rss_bytes'] >> 20} MiB")
        )
        if props.get("weights_repacked") is False:
            says = "llama.cpp crashes with this processor's AMX instructions, so they are off and prompts are slower"
            rows.append(_row("note", "processor", says))
        if failed := props.get("tcp_error"):
            rows.append(_row("note", "port", str(failed)))
        if less := limits(props):
            rows.append(_row("note", "model", f"{props.get('model_alias')} {less}"))
    return rows


def _index() -> list[dict[str, Any]]:
    from lsp_harness.cli.doctor.doctor_index import rows
    from lsp_harness.index.index_place import prepare_place as index_of

    config, _ = load(Path.cwd())
    if not config.index.enabled:
        return [_row("ok", "index", "off: the setting index.enabled is false")]
    try:
        return [_row(*row) for row in rows(index_of(Path.cwd()), config)]
    except (HarnessError, OSError) as error:
        return [_row("note", "index", getattr(error, "message", str(error)))]


def _tools() -> list[dict[str, Any]]:
    ruff = tool_run.find_tool("ruff")
    if ruff:
        return [_row("ok", "ruff", ruff)]
    return [
        _row(
            "note",
            "ruff",
            "not found, so edits of Python are not linted before they are offered; run: pip install ruff",
        )
    ]
