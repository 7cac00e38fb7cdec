"""`bench indexing`: typing while a large folder is indexed for the first time."""

import asyncio
import json
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

from lsp_harness.bench.figures import Figure, Goal, Result, p50, p95
from lsp_harness.bench.keystrokes import traces
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.suite.preempt import both
from lsp_harness.bench.suite.typing import on_ours
from lsp_harness.process.tool_run import kill_group

REQUESTS, EACH = 160, 40
QUIET = "the same, quiet"


async def run(lab: Lab) -> Result:
    """Some edits are typed quiet, others while Python's own library is indexed, again and again; the first key of an edit,
    which is cold, is left out."""
    requests = lab.size(REQUESTS)
    found = traces(lab.edits, 2 * requests, each=min(EACH, requests))
    root = Path(sysconfig.get_path("stdlib"))
    read = list[int]()

    async def load(turn: int) -> None:
        read.append(0)

        def tell(files: int) -> None:
            read[-1] = files

        with tempfile.TemporaryDirectory(prefix="lh-") as folder:
            await indexed(root, Path(folder) / "index.db", tell)

    quiet, loaded = await both(lab, found, (len(found) + 1) // 2, on_ours, load)
    return lab.result(
        "indexing",
        f"{len(quiet)} keys quiet, {len(loaded)} while {root.name} is indexed",
        [
            Figure("time to first token, p50", p50(loaded), p50(quiet), QUIET),
            Figure("time to first token, p95", p95(loaded), p95(quiet), QUIET, goal=Goal(1.3, "ratio")),
        ],
        f"{sum(read):,} files were read meanwhile, in {len(read)} rounds; what indexes gets what the engine leaves of the cores",
        series={"time to first token, ms": {"quiet": quiet, "indexing": loaded}},
    )


async def indexed(root: Path, database: Path, tell: Callable[[int], None]) -> None:
    """Have the process make the index that a server has for a folder; it is told how many files are read."""
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
            said = json.loads(line)
            if said["state"] == "scanning":
                tell(int(said["done"]))
            elif said["state"] == "ready":
                tell(int(said["parsed"]))
                return
    finally:
        process.stdin.close()
        await kill_group(process)
