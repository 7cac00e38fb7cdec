"""A server where things are hard: 50,000 files, two servers on one folder, and a file system that is really full.

    python -m benchmarks.hardship many [--files 50000]
    python -m benchmarks.hardship two [--changes 20]
    python -m benchmarks.hardship full FOLDER

`FOLDER` is on a file system of its own that may be filled (`mount -t tmpfs -o size=24m tmpfs FOLDER`); what is written
there is taken away again. The server is the one an editor starts, with no model: what is asked of it meanwhile are the
symbols of an open text and of the workspace.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter

import psutil

from lsp_harness.cli.lsp_client import LspClient

OPEN = "class Open:\n    def first(self): ...\n"
POLL = 0.25
PATIENCE = 900.0


@asynccontextmanager
async def start_server(root: Path, home: Path) -> AsyncGenerator[LspClient]:
    # nothing is evaluated ahead, so that no model is started
    more = {"LSP_HARNESS_HOME": str(home), "LSP_HARNESS_COMPLETION__WARM": "false"}
    async with LspClient.start(root, env={**os.environ, **more}) as client:
        client.open(root / "open.py", OPEN, "python")
        yield client


async def request_symbols(client: LspClient, query: str) -> list[str]:
    return [found["name"] for found in await client.request("workspace/symbol", {"query": query}) or []]


async def time_until_found(
    client: LspClient, root: Path, query: str, answers: list[float], seconds: float = PATIENCE
) -> float | None:
    """Return the seconds until a symbol is in the index, while the symbols of an open text are requested and timed."""
    began = perf_counter()
    uri = (root / "open.py").as_uri()
    while perf_counter() - began < seconds:
        if query in await request_symbols(client, query):
            return perf_counter() - began
        asked = perf_counter()
        found = await client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        answers.append((perf_counter() - asked) * 1000)
        assert "Open" in [one["name"] for one in found]
        await asyncio.sleep(POLL)
    return None


def measure_memory(client: LspClient) -> int:
    """Return the MiB of the server and all its descendants."""
    server = psutil.Process(client.process.pid)
    total = 0
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total // 2**20


async def measure_many_files(files: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder).resolve() / "project", Path(folder) / "home"
        for n in range(files):
            file = root / f"p{n // 500}" / f"m{n}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                f"import os\nfrom p0.m0 import Thing0\n\n\nclass Thing{n}(Thing0):\n"
                f"    def run{n}(self, a, b):\n        return a\n"
            )
        (root / "open.py").write_text(OPEN)
        answers: list[float] = []
        async with start_server(root, home) as client:
            # folders are read in any order
            took = [
                await time_until_found(client, root, f"Thing{n * (files - 1) // 100}", answers) or PATIENCE
                for n in range(101)
            ]
            print(
                f"{files:,} files: in the index after {sum(took):.0f} s, {measure_memory(client)} MiB in all; open "
                "text's symbols "
                f"meanwhile p50 {statistics.median(answers):.0f} ms, longest {max(answers):.0f} ms"
            )
        database = next(home.rglob("index.db"))
        print(f"database {database.stat().st_size / 1e6:.0f} MB")
        answers.clear()
        async with start_server(root, home) as client:
            found_s = await time_until_found(client, root, f"Thing{files - 1}", answers)
            print(f"second start: a symbol after {found_s:.2f} s")


async def measure_two_servers(changes: int) -> None:
    """Measure the time until both servers know a file that is written."""
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder).resolve() / "project", Path(folder) / "home"
        root.mkdir()
        (root / "open.py").write_text(OPEN)
        (root / "first.py").write_text("class First: ...\n")
        took: list[float] = []
        async with start_server(root, home) as one, start_server(root, home) as other:
            await asyncio.gather(*(wait_for_symbol(client, "First") for client in (one, other)))
            for n in range(changes):
                (root / f"m{n}.py").write_text(f"class Change{n}: ...\n")
                took += await asyncio.gather(*(wait_for_symbol(client, f"Change{n}") for client in (one, other)))
            keepers = {
                process.pid
                for client in (one, other)
                for process in psutil.Process(client.process.pid).children(recursive=True)
                if "lsp_harness.index.index_process" in process.cmdline()
            }
        print(
            f"{changes} files written, two servers: known to both after p50 "
            f"{statistics.median(took) * 1000:.0f} ms, longest "
            f"{max(took) * 1000:.0f} ms; {len(keepers)} index process"
        )


async def wait_for_symbol(client: LspClient, query: str) -> float:
    """Query a symbol again and again until it is found. Return the seconds that this takes."""
    began = perf_counter()
    while query not in await request_symbols(client, query):
        pass
    return perf_counter() - began


async def measure_full_disk(folder: Path) -> None:
    ballast, home = folder / "ballast", folder / "home"
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        for n in range(400):
            body = "".join(f"    def method_{n}_{m}(self, first, second):\n        return first\n" for m in range(20))
            (root / f"m{n}.py").write_text(f"class Thing{n}:\n{body}")
        (root / "open.py").write_text(OPEN)
        # a megabyte is left: enough to begin
        with ballast.open("wb") as out, suppress(OSError):
            while True:
                out.write(b"\0" * 65536)
                out.flush()
        os.truncate(ballast, max(0, ballast.stat().st_size - 2**20))
        answers: list[float] = []
        try:
            async with start_server(root, home) as client:
                took = await time_until_found(client, root, "Thing399", answers, 30.0)
                free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
                print(
                    f"full ({free:,} bytes left): "
                    f"{'not all in the index within 30 s' if took is None else f'{took:.1f} s'}"
                )
                print(f"symbols of the open text: {len(answers)} of {len(answers)}, longest {max(answers):.0f} ms")
                ballast.unlink()
                took = await time_until_found(client, root, "Thing399", answers, 60.0)
                print(
                    "with room again: "
                    + ("never" if took is None else f"all in the index after {took:.1f} s, nobody did anything")
                )
        finally:
            ballast.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="what", required=True)
    parts.add_parser("many").add_argument("--files", type=int, default=50_000)
    parts.add_parser("two").add_argument("--changes", type=int, default=20)
    parts.add_parser("full").add_argument("folder", type=Path)
    args = parser.parse_args()
    match args.what:
        case "many":
            asyncio.run(measure_many_files(args.files))
        case "two":
            asyncio.run(measure_two_servers(args.changes))
        case _:
            asyncio.run(measure_full_disk(args.folder.resolve()))


if __name__ == "__main__":
    main()
