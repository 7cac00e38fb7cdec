"""Connections and file writes of the server and the engine, as the kernel reports them.

    python -m benchmarks.isolation        (needs strace)

With the model present and no configuration: one completion and one fix in a workspace, engine started afresh.
"""

import asyncio
import re
import shutil
import sys
import tempfile
from pathlib import Path

from lsp_harness.cli.commands.engine_cli import stop
from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.config import paths
from lsp_harness.inference.models import model_files

CONNECT = re.compile(
    r"(?:connect|sendto)\(\d+, \{sa_family=(AF_\w+)"
    r"(?:, sun_path=\"([^\"]*)\"|.*?(?:inet_addr\(\"([^\"]*)\"\)|\"([0-9a-f:]+)\"))?"
)
OPENED = re.compile(r"openat?\((?:AT_FDCWD, )?\"([^\"]+)\", ([A-Z_|]+)[^)]*\) = \d")
MADE = re.compile(
    r"(?:mkdir|rename|unlink|symlink|link|creat)(?:at2?|at)?\((?:AT_FDCWD, )?\"([^\"]+)\""
    r"(?:, (?:AT_FDCWD, )?\"([^\"]+)\")?.* = 0"
)
SOURCE = "import math\n\n\ndef area(radius):\n    return "
BROKEN = "def scale(values, factor):\n    return [value * facter for value in values]\n"


async def run_workload(root: Path, trace: Path) -> None:
    argv = [
        "strace",
        "-f",
        "-qq",
        "-s",
        "200",
        "-o",
        str(trace),
        "-e",
        "trace=%network,%file",
        sys.executable,
        "-m",
        "lsp_harness",
        "serve",
    ]
    async with LspClient.start(root, *argv) as client:
        uri = client.open(root / "area.py", SOURCE, "python")
        items = await client.inline_completion(uri, SOURCE)
        uri = client.open(root / "scale.py", BROKEN, "python")
        problem = {"start": {"line": 1, "character": 20}, "end": {"line": 1, "character": 26}}
        found = {"range": problem, "message": "Undefined name `facter`", "code": "F821", "source": "ruff"}
        asked = {"textDocument": {"uri": uri}, "range": problem, "context": {"diagnostics": [found]}}
        [action] = await client.request("textDocument/codeAction", asked)
        fixed = await client.request("codeAction/resolve", action)
        # strace stays for as long as any process it follows, and the engine would outlive the server
        stop()
        print(f"completion {items[0]['insertText']!r}, fix resolved: {bool(fixed['edit'])}")


def main() -> None:
    if not shutil.which("strace"):
        sys.exit("strace is not installed")
    stop()
    own = [paths.state_folder(), paths.cache_folder(), paths.runtime_folder(), model_files.models_folder()]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        root = Path(folder).resolve() / "workspace"
        root.mkdir()
        asyncio.run(run_workload(root, trace))
        lines = trace.read_text(errors="replace").splitlines()
    connected = {(m[1], m[2] or m[3] or m[4] or "") for line in lines if (m := CONNECT.search(line))}
    written: set[str] = set()
    for line in lines:
        if (m := OPENED.search(line)) and re.search("O_WRONLY|O_RDWR|O_CREAT", m[2]):
            written.add(m[1])
        elif m := MADE.search(line):
            written |= {name for name in m.groups() if name}
    print(f"{len(lines)} system calls looked at")
    print("connections:", *sorted(f"\n  {family} {where}" for family, where in connected))
    outside = sorted(
        w
        for w in written
        if not any(Path(w).is_relative_to(folder) for folder in own) and not w.startswith(("/dev/", "/proc/"))
    )
    print("written inside state, cache and runtime:", len(written) - len(outside))
    print("written elsewhere:", *(f"\n  {name}" for name in outside) if outside else ["nothing"])


if __name__ == "__main__":
    main()
