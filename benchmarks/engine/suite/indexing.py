"""`bench indexing`: typing while a large folder is indexed for the first time."""

import asyncio
import json
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.engine.figures import Figure, Goal, Result, p50, p95
from benchmarks.engine.keystrokes import make_traces
from benchmarks.engine.lab import Lab
from benchmarks.engine.suite.preempt import type_quiet_and_loaded
from benchmarks.engine.suite.typing import type_on_engine
from lsp_harness.process.tool_run import kill_group

MAX_KEYS, MAX_KEYS_PER_EDIT = 160, 40
QUIET_LABEL = "the same, quiet"


async def run(lab: Lab) -> Result:
    """Type some edits on a quiet machine, and others while the standard library of Python is indexed repeatedly.

    The first key of an edit is left out, because its prompt is cold.
    """
    requests = lab.size(MAX_KEYS)
    traces = make_traces(lab.edits, 2 * requests, max_keys=min(MAX_KEYS_PER_EDIT, requests))
    root = Path(sysconfig.get_path("stdlib"))
    files_read = list[int]()

    async def load(turn: int) -> None:
        files_read.append(0)

        def report(files: int) -> None:
            files_read[-1] = files

        with tempfile.TemporaryDirectory(prefix="lh-") as folder:
            await index_folder(root, Path(folder) / "index.db", report)

    idle, loaded = await type_quiet_and_loaded(lab, traces, (len(traces) + 1) // 2, type_on_engine, load)
    return lab.result(
        "indexing",
        f"{len(idle)} keys quiet, {len(loaded)} while {root.name} is indexed",
        [
            Figure("time to first token, p50", p50(loaded), p50(idle), QUIET_LABEL),
            Figure("time to first token, p95", p95(loaded), p95(idle), QUIET_LABEL, goal=Goal(1.3, "ratio")),
        ],
        f"{sum(files_read):,} files were read meanwhile, in {len(files_read)} rounds; "
        "the index process gets the CPU time that the engine leaves",
        series={"time to first token, ms": {"quiet": idle, "indexing": loaded}},
    )


async def index_folder(root: Path, database: Path, report: Callable[[int], None]) -> None:
    """Run the index process for a folder, and report how many files it has read."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_harness.index.index_process", "--root", str(root), "--database", str(database)),
        "--no-follow",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(b'{"first": []}\n')
        async for line in process.stdout:
            status = json.loads(line)
            if status["state"] == "scanning":
                report(int(status["done"]))
            elif status["state"] == "ready":
                report(int(status["parsed"]))
                return
    finally:
        process.stdin.close()
        await kill_group(process)
