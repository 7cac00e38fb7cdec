"""Rounds of starting and stopping agents whose processes escape, counting everything that is left.

    python -m benchmarks.agent_cleanup [--rounds 200] [--kills 20]

Each agent starts nine processes that leave its session, its process group, its parent or its environment. It is ended
in three ways, in turn: stopped in order, killed, and by its own exit. `--kills` rounds run an agent in a server that is
killed with SIGKILL.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.process_table import list_processes
from lsp_harness.process.termination import OpenProcess
from lsp_harness.runtime.terminal.terminal import Terminal
from lsp_harness.text.ulid import make_ulid
from tests.runtime.terminal.process_count import ESCAPE_SCRIPTS, find_descendants, open_descriptors, until_shown
from tests.runtime.terminal.test_agent_cleanup import ALL_ESCAPES, SERVER

SCRIPT = f"{ALL_ESCAPES}\necho re''ady; read x"
GRACE_S = 0.3
END_LIMIT_S = 30.0


@dataclass(slots=True)
class Counts:
    """The processes, descriptors and files that were left."""

    seen: int = 0
    processes: int = 0
    descriptors: int = 0
    files: int = 0


async def run_round(number: int, folder: Path, counts: Counts) -> float:
    """Start and end one agent. Return the seconds that its end took."""
    env = {**os.environ, "TMPDIR": str(folder)}
    terminal = await Terminal.start(
        ["bash", "-c", SCRIPT], cwd=folder, env=env, columns=120, rows=40, log_file=None, mark=make_ulid()
    )
    await until_shown("ready", terminal)
    pids = find_descendants(os.getpid())
    counts.seen += len(pids)
    start_s = time.perf_counter()
    if number % 3 == 2:
        terminal.write(b"\r")
        await terminal.wait()
    else:
        await terminal.end(force=number % 3 == 1, timeout_s=GRACE_S)
    seconds = time.perf_counter() - start_s
    counts.processes += len(pids & {row.pid for row in list_processes()})
    terminal.close()
    return seconds


async def run_kill(folder: Path, counts: Counts) -> None:
    """Run an agent in a server that is killed."""
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, make_ulid(), SCRIPT, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert server.stdout
    assert await server.stdout.readline() == b"ready\n"
    processes = [OpenProcess(pid) for pid in find_descendants(server.pid)]
    counts.seen += len(processes)
    server.kill()
    await server.wait()
    ended = await asyncio.gather(*(process.wait_for_end(END_LIMIT_S) for process in processes))
    counts.processes += len(ended) - sum(ended)
    for process in processes:
        process.close()


async def measure(rounds: int, kills: int) -> None:
    """Run the rounds, and print the counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = Counts()
        await run_round(1, folder, counts)
        descriptors, counts = open_descriptors(), Counts()
        seconds = sorted([await run_round(number, folder, counts) for number in range(rounds)])
        for _ in range(kills):
            await run_kill(folder, counts)
        counts.descriptors = open_descriptors() - descriptors
        counts.files = len(list(folder.iterdir()))
    print(
        f"{rounds} rounds and {kills} killed servers, {len(ESCAPE_SCRIPTS)} escapes each, {counts.seen} processes seen"
    )
    print(f"left: {counts.processes} processes, {counts.descriptors} descriptors, {counts.files} files")
    print(f"the end took {seconds[len(seconds) // 2]:.2f} s in the median, {seconds[-1]:.2f} s at most")


def main() -> None:
    """Read the arguments and run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.rounds, arguments.kills))


if __name__ == "__main__":
    main()
