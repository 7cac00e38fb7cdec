"""`lsp-harness engine`: start, stop and inspect the engine, which is the process with the model."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.commands import libraries_cli
from lsp_harness.cli.console import JsonOption, console, print_json, require_positive, say, warn
from lsp_harness.cli.doctor.engine_report import list_clients, list_facts
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_end
from lsp_harness.errors import ConfigError, EngineUnavailable, FileError, FileMissing
from lsp_harness.inference.running_engines import RunningEngine, end_engines, list_engines
from lsp_harness.inference.target import is_remote
from lsp_harness.process.detached_process import MAX_LOG_BYTES
from lsp_harness.text.wording import format_count

app = cyclopts.App(name="engine", help="Start, stop and inspect the engine, the process with the model.")
app.command(libraries_cli.app)


@app.command
def start(*, json: JsonOption = False) -> int:
    """Start the engine, for programs that use its socket or port. A running engine that answers is not changed."""
    from lsp_harness.inference.supervisor import EngineSupervisor

    supervisor = EngineSupervisor(_local_engine_config())
    # other programs need an engine that answers, so an engine that does not answer is replaced
    supervisor.suspect_engine()
    socket_file = asyncio.run(supervisor.ensure_running())
    _print_engines([engine for engine in list_engines() if engine.socket == socket_file], json=json)
    return 0


@app.command
def status(*, json: JsonOption = False) -> int:
    """Show the running engines: memory, speed, cached prompts, clients and requests."""
    engines = list_engines()
    if engines or json:
        _print_engines(engines, json=json)
    else:
        say("no engine is running; the first request starts one")
    return 0


@app.command
def stop(*, json: JsonOption = False) -> int:
    """Stop all engines of this user. The next request starts one again.

    An engine that does not stop when asked is killed.
    """
    ends = asyncio.run(end_engines())
    stopped, failures = [end for end in ends if end.ending], [end for end in ends if not end.ending]
    if json:
        print_json([end.pid for end in stopped])
    else:
        say(f"stopped {format_count(len(stopped), 'engine')}" if ends else "no engine is running")
    if failures:
        raise EngineUnavailable("; ".join(f"an engine {end.description}" for end in failures))
    return 0


@app.command
def restart(*, json: JsonOption = False) -> int:
    """Stop the engine, by force if necessary, and start it again."""
    from lsp_harness.inference.supervisor import end_engine

    config = _local_engine_config()
    asyncio.run(end_engine(config))
    return start(json=json)


@app.command
def logs(
    *, lines: Annotated[int, Parameter(help="The number of lines of each log.", validator=require_positive)] = 40
) -> int:
    """Print the end of the engines' logs."""
    files = sorted(paths.state_folder().glob("engine-*.log"))
    if not files:
        raise EngineUnavailable("no engine has written a log yet")
    for file in files:
        say(f"== {file}")
        try:
            text = read_end(file, MAX_LOG_BYTES).decode("utf-8", "replace")
        except FileError as error:
            warn(error.message)
        else:
            say("\n".join(text.splitlines()[-lines:]))
    return 0


@app.command
def token() -> int:
    """Print the token that programs need to use the engine's port."""
    from lsp_harness.inference.access_token import read_token

    try:
        say(read_token())
    except FileMissing:
        raise EngineUnavailable("there is no token yet; set engine.port and start an engine") from None
    return 0


def _local_engine_config() -> Config:
    """Return the settings. Raise ConfigError if they name another server than a local engine."""
    config = read_settings(Path.cwd())
    if is_remote(config.engine) or config.engine.script:
        raise ConfigError("the settings name a remote server or a script, so there is no local engine to start")
    return config


def _print_engines(engines: Sequence[RunningEngine], *, json: bool) -> None:
    if json:
        print_json([_engine_json(engine) for engine in engines])
    else:
        for engine in engines:
            _print_engine(engine)


def _engine_json(engine: RunningEngine) -> dict[str, Any]:
    """Return the JSON of an engine. Its keys are part of the command's interface."""
    row = {"pid": engine.pid, "socket": str(engine.socket), "rss_bytes": engine.rss_bytes, "props": engine.props}
    return row | {"silent": engine.silence} if engine.silence else row


def _print_engine(engine: RunningEngine) -> None:
    from rich.table import Table
    from rich.text import Text

    props = engine.props
    say(f"{props.get('model_alias', 'an engine that does not answer')} (process {engine.pid}, {engine.socket})")
    if engine.silence:
        say(f"  {engine.silence}; lsp-harness engine stop ends it, and so does the next request that needs it")
    facts_table = Table(box=None, show_header=False, padding=(0, 1))
    for name, value in list_facts(props, engine.rss_bytes):
        facts_table.add_row(f"  {name}", Text(value))
    console().print(facts_table)
    clients_table = Table("  client", "tokens", "age", "", box=None, padding=(0, 1))
    for client, *columns in list_clients(props):
        clients_table.add_row(Text(f"  {client}"), *columns)
    if clients_table.row_count:
        console().print(clients_table)
