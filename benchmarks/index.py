"""Cost of an index (first build, second start, one changed file), compared with tree-sitter alone and ctags.

    python -m benchmarks.index FOLDER [--suffix .py] [--rounds 3] [--json OUT]

The folder is linked into an empty one, file by file, so that nothing above it counts. CPU is that of all processes, as
the system counts it, start of Python included. The floor is a process that reads the files and parses them with the
same grammars, by itself and as one of as many as there are cores, each with its share of the files: cores that share a
cache, or are two threads of one, take more time for the same work when all are used, as an index uses them. ctags
(`universal-ctags`, where it is installed) finds names only. All in one run, the rounds one after the other; figures are
the medians of the rounds.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import WalkedFile, walk

PARSE = """
import sys
from pathlib import Path
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse_root
share, shares = map(int, sys.argv[2:])
for path in sorted(Path(sys.argv[1]).rglob("*"))[share::shares]:
    if path.is_file() and path.stat().st_size <= MAX_TEXT_BYTES:
        data = path.read_bytes()
        if language := language_for("", path.name):
            parse_root(language, data)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The seconds of the clock and of the CPU, and the largest memory of all processes together in MiB."""

    seconds: float
    cpu: float
    memory: float


class ResourceSampler:
    """A sampler of the CPU time and memory of a process and its children.

    A process that ends between two samples loses a few milliseconds.
    """

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._cpu: dict[tuple[int, float], float] = {}
        self.memory = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def look(self) -> float:
        """Return the CPU seconds until now."""
        memory = 0
        processes = [self._process]
        with suppress(psutil.NoSuchProcess):
            processes += self._process.children(recursive=True)
        for process in processes:
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    self._cpu[process.pid, process.create_time()] = times.user + times.system
                    memory += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        self.memory = max(self.memory, memory / 2**20)
        return sum(self._cpu.values())

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.look()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


@contextmanager
def open_index_process(
    root: Path, database: Path
) -> Iterator[tuple[subprocess.Popen[str], Callable[[], dict[str, Any]]]]:
    """Start the process that keeps an index, and yield it with its report that it is ready."""
    argv = [sys.executable, "-m", "lsp_harness.index.index_process", "--root", str(root), "--database", str(database)]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin
    child.stdin.write("{}\n")
    child.stdin.flush()

    def ready() -> dict[str, Any]:
        assert child.stdout
        return next(said for said in map(json.loads, child.stdout) if said["state"] == "ready" and "files" in said)

    try:
        yield child, ready
    finally:
        child.communicate()


def measure_first_index(root: Path, database: Path) -> tuple[Cost, dict[str, Any]]:
    """Measure a start until the index is ready."""
    began = perf_counter()
    with open_index_process(root, database) as (child, ready):
        watched = ResourceSampler(child.pid)
        try:
            said = ready()
            seconds = perf_counter() - began
            cost = Cost(seconds, watched.look(), watched.memory)
        finally:
            watched.end()
    return cost, said


def measure_change(root: Path, database: Path, file: Path) -> tuple[float, dict[str, Any]]:
    """Measure the time from the change of a file until it is in the index, while the process runs."""
    with open_index_process(root, database) as (_, ready):
        ready()
        ready()  # when the watch has begun
        began = perf_counter()
        file.write_bytes(file.read_bytes() + b"\n")
        said = ready()
        return perf_counter() - began, said


def run_together(*commands: Sequence[str]) -> Cost:
    """Run all commands at the same time, and return their cost."""
    began = perf_counter()
    cpu = memory = 0.0
    quiet = subprocess.DEVNULL
    for child in [subprocess.Popen(argv, stdout=quiet, stderr=quiet) for argv in commands]:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, child.args
        cpu, memory = cpu + usage.ru_utime + usage.ru_stime, memory + usage.ru_maxrss / 1024
    return Cost(perf_counter() - began, cpu, memory)


def measure_parse(root: Path, processes: int) -> Cost:
    return run_together(*([sys.executable, "-c", PARSE, str(root), str(n), str(processes)] for n in range(processes)))


def compute_median_cost(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*(asdict(cost).values() for cost in costs), strict=True)))


def copy_files(folder: Path, suffix: str, into: Path) -> tuple[int, int]:
    """Copy the files with a suffix, and return their number and bytes."""
    count = size = 0
    for found in walk(folder, IgnoreFiles([folder])):
        if isinstance(found, WalkedFile) and found.path.endswith(suffix):
            target = into / found.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / found.path, target)
            count, size = count + 1, size + found.size
    return count, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suffix", default="", help="only files that end so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "ws"
        files, size = copy_files(args.folder.resolve(), args.suffix, root)
        database = root.parent / "index.db"
        alone, together = "parse alone", "parse alone, all cores"
        rows: dict[str, list[Cost]] = {name: [] for name in ("first index", "second start", alone, together, "ctags")}
        said: dict[str, Any] = {}
        for _ in range(args.rounds):
            for suffix in ("", "-wal", "-shm"):
                Path(f"{database}{suffix}").unlink(missing_ok=True)
            cost, said = measure_first_index(root, database)
            rows["first index"].append(cost)
            cost, again = measure_first_index(root, database)
            assert again["parsed"] == 0, again
            rows["second start"].append(cost)
            rows[alone].append(measure_parse(root, 1))
            rows[together].append(measure_parse(root, os.cpu_count() or 1))
            if ctags := shutil.which("ctags"):
                rows["ctags"].append(run_together([ctags, "-R", "-f", os.devnull, str(root)]))
        seconds, change = measure_change(
            root, database, next(path for path in sorted(root.rglob("*")) if path.is_file())
        )
        report = {name: asdict(compute_median_cost(costs)) for name, costs in rows.items() if costs}
        total = {
            "files": files,
            "bytes": size,
            "database": database.stat().st_size,
            "touched": seconds,
            "parsed": change["parsed"],
        }
    if args.json:
        args.json.write_text(json.dumps({**total, **report}, indent=2))
    floor, shared = report[alone]["cpu"], report[together]["cpu"]
    print(f"{files:,} files, {size / 1e6:.1f} MB; database {total['database'] / 1e6:.1f} MB; {said}")
    print("| | seconds | CPU seconds | of parse alone | on all cores | MB/s | MiB |\n" + "| --- " * 7 + "|")
    for name, cost in report.items():
        rate = size / 1e6 / cost["seconds"]
        print(
            f"| {name} | {cost['seconds']:.2f} | {cost['cpu']:.2f} | {cost['cpu'] / floor:.2f} | "
            f"{cost['cpu'] / shared:.2f} "
            f"| {rate:.1f} | {cost['memory']:.0f} |"
        )
    print(f"one file that is touched: {change['parsed']} parsed, in the index after {seconds * 1000:.0f} ms")


if __name__ == "__main__":
    main()
