"""`lsp-harness engine`: the model process: what it is, ending it, reading its log."""

import os
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.config import paths
from lsp_harness.errors import EngineUnavailable

app = cyclopts.App(name="engine", help="The process that holds the model: status, stop, logs.")


@app.command
def status(*, json: AsJson = False) -> int:
    """Show the engines that run now."""
    found = running()
    if json:
        as_json(found)
    elif not found:
        say("no engine is running; the first request starts one")
    else:
        from rich.table import Table

        table = Table("model", "pid", "memory", "context", "requests", "socket", box=None)
        for row in found:
            props = row["props"]
            context = props.get("default_generation_settings", {}).get("n_ctx", "")
            memory = f"{row['rss_bytes'] / 2**20:.0f} MiB"
            table.add_row(
                props.get("model_alias", "?"),
                str(row["pid"]),
                memory,
                str(context),
                str(props.get("pending", "")),
                row["socket"],
            )
        console().print(table)
    return 0


@app.command
def stop(*, json: AsJson = False) -> int:
    """End all engines of this user; the next request starts one again."""
    found = running()
    for row in found:
        # one that ends by itself meanwhile is what was asked for
        with suppress(ProcessLookupError):
            os.kill(row["pid"], signal.SIGTERM)
    as_json([row["pid"] for row in found]) if json else say(f"stopped {len(found)} engine(s)")
    return 0


@app.command
def logs(*, lines: Annotated[int, Parameter(help="How many lines of each log.")] = 40) -> int:
    """Print the end of the engines' logs."""
    files = sorted(paths.state().glob("engine-*.log"))
    if not files:
        raise EngineUnavailable("no engine has written a log yet")
    for file in files:
        say(f"== {file}")
        say("\n".join(file.read_text(errors="replace").splitlines()[-lines:]))
    return 0


def running() -> list[dict[str, Any]]:
    """Engines that answer, with their own account of themselves."""
    import httpx2

    found: list[dict[str, Any]] = []
    for path in sorted(paths.runtime().glob("engine-*.sock")):
        pid = _peer(path)
        if pid is None:
            continue
        with httpx2.Client(
            transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://engine", timeout=5, trust_env=False
        ) as http:
            try:
                props = http.get("/props").json()
            except (httpx2.HTTPError, ValueError):
                props = {}
        found.append({"pid": pid, "socket": str(path), "rss_bytes": _rss(pid), "props": props})
    return found


def _peer(path: Path) -> int | None:
    """Who listens there, from the kernel and not from what it says."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
            return struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            return None


def _rss(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
