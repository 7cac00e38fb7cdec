"""The number of places in the code: modules, lines, importers, and the files that a request goes through.

    python -m benchmarks.places                       # this checkout
    python -m benchmarks.places --tree OTHER --json places.json

The files of a request are those of `lsp_harness` with a function that runs for it, in a process that has answered one
such request before. The engine is scripted, and its process is not counted.
"""

import argparse
import ast
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lsp_harness.cli.lsp_client import LspClient

ROOT = Path(__file__).parents[1]
PACKAGE = "lsp_harness"
SMALL_LINES = 40
WAIT_S = 0.05
RECORDER = """
import atexit, os, signal, sys, threading
seen, place = set(), os.environ["PLACES_OUT"]
def record(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        seen.add(frame.f_code.co_filename)
def write(*arguments):
    with open(place + ".part", "w") as file:
        file.write("\\n".join(sorted(seen)))
    os.replace(place + ".part", place)
    seen.clear()
atexit.register(write)
signal.signal(signal.SIGUSR1, write)
threading.setprofile(record)
sys.setprofile(record)
from lsp_harness.cli.main import main
sys.exit(main())
"""
SOURCE = "import math\n\n\ndef area(radius):\n    width = radius * 2\n    return math.pi * widht\n"
FINDING = {
    "range": {"start": {"line": 5, "character": 21}, "end": {"line": 5, "character": 26}},
    "message": "Undefined name `widht`",
    "source": "Ruff",
    "code": "F821",
    "severity": 1,
}


def read_modules(tree: Path) -> dict[str, Path]:
    """Return the modules of the package by their dotted names."""
    files = sorted((tree / PACKAGE).rglob("*.py"))
    names = (".".join(file.relative_to(tree).with_suffix("").parts).removesuffix(".__init__") for file in files)
    return dict(zip(names, files, strict=True))


def list_imports(name: str, tree: ast.Module, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules of the package that a module imports."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {target if target in modules else node.module for target in targets}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return (found & modules.keys()) - {name}


def count_modules(tree: Path) -> dict[str, int]:
    """Return the counts of modules and lines. Files `__init__.py` count as lines, but not as modules."""
    modules = read_modules(tree)
    lines = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in modules.items()}
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in modules.items()}
    imports = {name: list_imports(name, tree, modules) for name, tree in trees.items()}
    importers = Counter(target for targets in imports.values() for target in targets)
    plain = [name for name, file in modules.items() if file.name != "__init__.py"]
    inside = f"{PACKAGE}.harness"
    outside = {target for name, targets in imports.items() if not name.startswith(inside) for target in targets}
    return {
        "modules": len(plain),
        f"modules under {SMALL_LINES} lines": sum(lines[name] < SMALL_LINES for name in plain),
        "modules with one importer": sum(importers[name] == 1 for name in plain),
        "lines": sum(lines.values()),
        "modules of harness imported from outside": sum(name.startswith(inside) for name in outside),
    }


class Journey:
    """A process of another checkout whose files are recorded.

    Attributes:
        command: The command of the process, without its arguments.
        env: The environment of the process.
        script: The replies of the engine.
    """

    def __init__(self, tree: Path, folder: Path, replies: int) -> None:
        self._out, self.script = folder / "places.txt", folder / "script.json"
        self.script.write_text(json.dumps([{"text": "radius * 2"}] * replies))
        self.command = (sys.executable, "-c", RECORDER)
        self.env = {
            **os.environ,
            "PLACES_OUT": str(self._out),
            "PYTHONPATH": str(tree),
            "LSP_HARNESS_HOME": str(folder / "home"),
            "LSP_HARNESS_ENGINE__SCRIPT": str(self.script),
        }

    async def take(self, pid: int) -> list[str]:
        """Return the files that ran since the last call."""
        self._out.unlink(missing_ok=True)
        os.kill(pid, signal.SIGUSR1)
        while not self._out.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(WAIT_S)
        return self.read()

    def read(self) -> list[str]:
        """Return the files that the process has written down."""
        mark = f"/{PACKAGE}/"
        return [line.rpartition(mark)[2] for line in self._out.read_text().splitlines() if mark in line]


async def follow_editor(tree: Path, folder: Path) -> dict[str, list[str]]:
    """Return the files of a key press with a suggestion, and those of a quick fix."""
    journey, root = Journey(tree, folder, 50), folder / "project"
    root.mkdir()
    file = root / "area.py"
    file.write_text(SOURCE)
    async with LspClient.start(root, *journey.command, "serve", env=journey.env) as client:
        uri, pid = client.open(file, SOURCE, "python"), client.process.pid
        found: dict[str, list[str]] = {}
        for name, work in (("quick fix", request_fix), ("key press", press_key)):
            await work(client, uri)
            await journey.take(pid)
            await work(client, uri)
            found[name] = await journey.take(pid)
    return found


async def press_key(client: LspClient, uri: str) -> None:
    """Type a character at the end of the document, and wait for a suggestion."""
    text = client.text(uri).text
    client.change(uri, text + "x = ")
    await client.inline_completion(uri, text + "x = ")


async def request_fix(client: LspClient, uri: str) -> None:
    """Request the quick fixes of a finding, and resolve the first one."""
    params = {"textDocument": {"uri": uri}, "range": FINDING["range"], "context": {"diagnostics": [FINDING]}}
    actions: list[dict[str, Any]] = await client.request("textDocument/codeAction", params)
    if not actions:
        raise RuntimeError("the server offers no quick fix")
    await client.request("codeAction/resolve", actions[0])


async def follow_prompt(tree: Path, folder: Path) -> list[str]:
    """Return the files of `lsp-harness run "…"`, from its start to its end."""
    journey, root = Journey(tree, folder, 1), folder / "other"
    root.mkdir()
    (root / "area.py").write_text(SOURCE)
    arguments = ("run", "what is in area.py?", "--provider", f"scripted:{journey.script}")
    process = await asyncio.create_subprocess_exec(*journey.command, *arguments, cwd=root, env=journey.env)
    if await process.wait():
        raise RuntimeError("the prompt failed")
    return journey.read()


def render(counts: Mapping[str, int], journeys: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the lines of the report."""
    for name, count in counts.items():
        yield f"{name}: {count:,}"
    for name, files in journeys.items():
        yield f"files of {name}: {len(files)}"


async def measure(tree: Path) -> dict[str, list[str]]:
    """Return the files of the three journeys."""
    with tempfile.TemporaryDirectory() as folder:
        found = await follow_editor(tree, Path(folder))
        return {**found, "run": await follow_prompt(tree, Path(folder))}


def main() -> None:
    """Print the figures of a checkout."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, default=ROOT, help="the checkout")
    options.add_argument("--json", type=Path, help="a file for the figures and the lists of files")
    chosen = options.parse_args()
    tree = chosen.tree.resolve()
    counts, journeys = count_modules(tree), asyncio.run(measure(tree))
    print("\n".join(render(counts, journeys)))
    if chosen.json:
        chosen.json.write_text(json.dumps({"counts": counts, "journeys": journeys}, indent=1))


if __name__ == "__main__":
    main()
