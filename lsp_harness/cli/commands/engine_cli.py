"""`lsp-harness engine`: the engine, which is the process with the model: start, status, stop, logs, token."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, cast

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, console, positive, say, warn
from lsp_harness.cli.doctor.engine_report import clients, facts
from lsp_harness.cli.folder_settings import settings
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_end
from lsp_harness.errors import ConfigError, EngineUnavailable, FileError, FileMissing
from lsp_harness.inference.running_engines import HEALTH_TIMEOUT_S, EngineEnd, end_engine_at, peer_pid
from lsp_harness.inference.target import is_remote
from lsp_harness.process.detached_process import MAX_LOG_BYTES
from lsp_harness.process.memory import resident_bytes
from lsp_harness.process.termination import describe_state
from lsp_harness.text.wording import format_count

app = cyclopts.App(name="engine", help="Start, stop and inspect the engine, the process with the model.")


@app.command
def start(*, json: AsJson = False) -> int:
    """Start the engine, for programs that use its socket or port. If it runs already, nothing is changed."""
    from lsp_harness.inference.supervisor import Supervisor

    supervisor = Supervisor(_own())
    # an engine that does not answer is of no use to the programs that it is started for
    supervisor.suspect_engine()
    socket_file = asyncio.run(supervisor.ensure_running())
    found = [row for row in running() if row["socket"] == str(socket_file)]
    if json:
        as_json(found)
    else:
        for row in found:
            _show(row)
    return 0


@app.command
def status(*, json: AsJson = False) -> int:
    """Show the running engines: memory, speed, cached prompts, clients and requests."""
    found = running()
    if json:
        as_json(found)
    elif not found:
        say("no engine is running; the first request starts one")
    else:
        for row in found:
            _show(row)
    return 0


@app.command
def stop(*, json: AsJson = False) -> int:
    """Stop all engines of this user. The next request starts one again.

    An engine that does not stop when asked is killed.
    """
    ended = [one for one in asyncio.run(_end_all()) if one]
    gone, left = [one for one in ended if one.ending], [one for one in ended if not one.ending]
    as_json([one.pid for one in gone]) if json else say(
        f"stopped {format_count(len(gone), 'engine')}" if gone or left else "no engine is running"
    )
    if left:
        raise EngineUnavailable("; ".join(f"an engine {one.description}" for one in left))
    return 0


async def _end_all() -> list[EngineEnd | None]:
    return await asyncio.gather(*(end_engine_at(path) for path in _sockets()))


@app.command
def restart(*, json: AsJson = False) -> int:
    """Stop the engine, by force if necessary, and start it again."""
    from lsp_harness.inference.supervisor import end_engine

    config = _own()
    asyncio.run(end_engine(config))
    return start(json=json)


@app.command
def logs(*, lines: Annotated[int, Parameter(help="The number of lines of each log.", validator=positive)] = 40) -> int:
    """Print the end of the engines' logs."""
    files = sorted(paths.state_folder().glob("engine-*.log"))
    if not files:
        raise EngineUnavailable("no engine has written a log yet")
    for file in files:
        say(f"== {file}")
        try:
            said = read_end(file, MAX_LOG_BYTES).decode("utf-8", "replace")
        except FileError as error:
            warn(error.message)
        else:
            say("\n".join(said.splitlines()[-lines:]))
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


def _own() -> Config:
    """The settings, where they mean an engine of ours. Raises ConfigError."""
    config = settings(Path.cwd())
    if is_remote(config.engine) or config.engine.script:
        raise ConfigError("the settings name a remote server or a script, so there is no local engine to start")
    return config


def _show(row: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    props = row["props"]
    say(f"{props.get('model_alias', 'an engine that does not answer')} (process {row['pid']}, {row['socket']})")
    if silent := row.get("silent"):
        say(f"  {silent}; lsp-harness engine stop ends it, and so does the next request that needs it")
    lines = Table(box=None, show_header=False, padding=(0, 1))
    for name, value in facts(props, row["rss_bytes"]):
        lines.add_row(f"  {name}", Text(value))
    console().print(lines)
    sequences = Table("  client", "tokens", "age", "", box=None, padding=(0, 1))
    for client, *columns in clients(props):
        sequences.add_row(Text(f"  {client}"), *columns)
    if sequences.row_count:
        console().print(sequences)


def running() -> list[dict[str, Any]]:
    """Engines that run, with their own account of themselves; `silent` says why one gives none."""
    sockets = _sockets()
    # side by side: each that is stuck takes its time
    with ThreadPoolExecutor(max(1, len(sockets))) as threads:
        return [row for row in threads.map(_row, sockets) if row]


def _row(path: Path) -> dict[str, Any] | None:
    import httpx2

    pid = peer_pid(path)
    if pid is None:
        return None
    with httpx2.Client(
        transport=httpx2.HTTPTransport(uds=str(path)),
        base_url="http://engine",
        timeout=HEALTH_TIMEOUT_S,
        trust_env=False,
    ) as http:
        try:
            props: Any = http.get("/props").json()
        except (httpx2.HTTPError, ValueError):
            props = None
    shown = cast("dict[str, Any]", props) if isinstance(props, dict) else {}
    row = {"pid": pid, "socket": str(path), "rss_bytes": resident_bytes(pid), "props": shown}
    return row if shown else row | {"silent": _silent(pid)}


def _silent(pid: int) -> str:
    cause = describe_state(pid)
    return f"it does not answer within {HEALTH_TIMEOUT_S:g} s" + (f": it is {cause}" if cause else "")


def _sockets() -> list[Path]:
    return sorted(paths.runtime_folder().glob("engine-*.sock"))
