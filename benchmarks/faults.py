"""A server whose index process is killed again and again, and whose folder and database are what they should not be.

    python -m benchmarks.faults [--kills 20] [--seed 1]

In the folder are 1,200 files of Python, a link to its own folder, a text of 300 MB and a folder that nobody may read
(said where the system does not let that be made). While it is indexed, and while files change, the process is killed at
random moments, half way the database file is overwritten with something else, and the server is asked on. Nobody does
anything by hand. In the end the index must be that of a folder that was indexed in peace.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.hardship import OPEN, time_until_found
from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.store.database import DatabaseReader, DatabaseWriter

FILES, CHANGED = 1_200, 40
HUGE = 300_000_000
UNPRIVILEGED = ("--bounding-set", "-dac_override,-dac_read_search")
"""What makes even root one who may not read everything (setpriv, of util-linux)."""
INDEX_ROWS_SQL = (
    "SELECT path, skipped, qualified, line FROM files LEFT JOIN symbols ON symbols.file = files.id ORDER BY 1, 3, 4"
)


def write_files(root: Path) -> None:
    for n in range(FILES):
        _write(root, n, f"thing_{n}")
    (root / "open.py").write_text(OPEN)
    (root / "circle").symlink_to(root, target_is_directory=True)
    with (root / "huge.py").open("wb") as out:
        out.truncate(HUGE)
    hidden = root / "hidden"
    hidden.mkdir()
    (hidden / "not_seen.py").write_text("def not_seen(): ...\n")
    hidden.chmod(0)


def _write(root: Path, n: int, name: str) -> None:
    file = root / f"p{n % 20}" / f"m{n}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"def {name}(a, b):\n    return a\n" + "".join(f"def other_{n}_{m}(): ...\n" for m in range(30)))


def find_index_processes(client: LspClient) -> list[psutil.Process]:
    """Return the processes that keep the index."""
    found: list[psutil.Process] = []
    for process in psutil.Process(client.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "lsp_harness.index.index_process" in process.cmdline():
                found.append(process)
    return found


async def kill_once(client: LspClient, chance: random.Random, answers: list[float]) -> None:
    """Kill the index process at a random moment, while the server gets requests."""
    lives, dies, found = chance.uniform(0.1, 3.0), float("inf"), list[psutil.Process]()
    while perf_counter() < dies:
        if (found := find_index_processes(client)) and dies == float("inf"):
            dies = perf_counter() + lives
        asked = perf_counter()
        await client.request("workspace/symbol", {"query": "thing_7"})
        answers.append((perf_counter() - asked) * 1000)
        await asyncio.sleep(0.05)
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)


async def run(kills: int, seed: int) -> None:
    chance = random.Random(seed)
    answers: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder).resolve() / "project", Path(folder) / "home"
        root.mkdir()
        write_files(root)
        command = [sys.executable, "-m", "lsp_harness", "serve"]
        if os.geteuid() == 0 and shutil.which("setpriv"):
            command = ["setpriv", *UNPRIVILEGED, *command]
        more = {"LSP_HARNESS_HOME": str(home), "LSP_HARNESS_COMPLETION__WARM": "false"}
        async with LspClient.start(root, *command, env={**os.environ, **more}) as client:
            client.open(root / "open.py", OPEN, "python")
            for n in range(kills):
                for changed in chance.sample(range(FILES), CHANGED):
                    _write(root, changed, f"thing_{changed}_{n}")
                await kill_once(client, chance, answers)
                if n == kills // 2:
                    next(home.rglob("index.db")).write_bytes(b"no database" * 10_000)
            (root / "last.py").write_text("def the_last(): ...\n")
            took = await time_until_found(client, root, "the_last", [])
            database = next(home.rglob("index.db"))
            with closing(DatabaseReader(database)) as reader:
                told, left = (
                    reader.rows(INDEX_ROWS_SQL),
                    reader.rows(
                        "SELECT path, why FROM left_out UNION ALL SELECT path, skipped FROM files WHERE skipped != ''"
                    ),
                )
            same = told == read_undisturbed_index(root, Path(folder) / "fresh.db")
        (root / "hidden").chmod(0o700)
    print(
        f"{kills} kills, the database overwritten once: {len(answers)} requests answered, longest "
        f"{max(answers):.0f} ms; what was "
        f"written then is known after {took or float('nan'):.1f} s; the index is that of one made in peace: {same}"
    )
    for path, why in sorted(left):
        print(f"left out: {path}: {why}")


def read_undisturbed_index(root: Path, database: Path) -> list[tuple[object, ...]]:
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        indexer.scan()
        # who may read everything sees what the server did not
        return [row for row in writer.rows(INDEX_ROWS_SQL) if not str(row[0]).startswith("hidden/")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    asyncio.run(run(args.kills, args.seed))


if __name__ == "__main__":
    main()
