"""`lsp-harness engine`: the engine, which is the process with the model: start, status, stop, logs, token."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, cast

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.engine_status import clients, facts
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.errors import ConfigError, EngineUnavailable
from lsp_harness.inference.providers import remote
from lsp_harness.inference.supervisor import peer
from lsp_harness.process.memory import resident
from lsp_harness.text.wording import counted

app = cyclopts.App(name="engine", help="Start, stop and inspect the engine, the process with the model.")


@app.command
def start(*, json: AsJson = False) -> int:
    """Start the engine, for programs that use its socket or port. If it runs already, nothing is changed."""
    from lsp_harness.inference.supervisor import Supervisor

    config = load(Path.cwd())[0]
    if remote(config.engine) or config.engine.script:
        raise ConfigError("the settings name a remote server or a script, so there is no local engine to start")
    socket_file = asyncio.run(Supervisor(config).ensure())
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
    """Stop all engines of this user. The next request starts one again."""
    found = running()
    for row in found:
        # one that ends by itself meanwhile is what was asked for
        with suppress(ProcessLookupError):
            os.kill(row["pid"], signal.SIGTERM)
    as_json([row["pid"] for row in found]) if json else say(
        f"stopped {counted(len(found), 'engine')}" if found else "no engine is running"
    )
    return 0


@app.command
def logs(*, lines: Annotated[int, Parameter(help="The number of lines of each log.")] = 40) -> int:
    """Print the end of the engines' logs."""
    files = sorted(paths.state().glob("engine-*.log"))
    if not files:
        raise EngineUnavailable("no engine has written a log yet")
    for file in files:
        say(f"== {file}")
        say("\n".join(file.read_text(errors="replace").splitlines()[-lines:]))
    return 0


@app.command
def token() -> int:
    """Print the token that programs need to use the engine's port."""
    from lsp_harness.inference.door.guard import token_file

    file = token_file()
    if not file.exists():
        raise EngineUnavailable("there is no token yet; set engine.port and run lsp-harness engine start")
    say(file.read_text())
    return 0


def _show(row: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    props = row["props"]
    say(f"{props.get('model_alias', 'an engine that does not answer')} (process {row['pid']}, {row['socket']})")
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
    """Engines that answer, with their own account of themselves."""
    import httpx2

    found: list[dict[str, Any]] = []
    for path in sorted(paths.runtime().glob("engine-*.sock")):
        pid = peer(path)
        if pid is None:
            continue
        with httpx2.Client(
            transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://engine", timeout=5, trust_env=False
        ) as http:
            try:
                props: Any = http.get("/props").json()
            except (httpx2.HTTPError, ValueError):
                props = None
        shown = cast("dict[str, Any]", props) if isinstance(props, dict) else {}
        found.append({"pid": pid, "socket": str(path), "rss_bytes": resident(pid), "props": shown})
    return found
