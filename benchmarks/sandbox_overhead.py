"""The time that the sandbox adds to a run of tests, and what its runs leave behind.

    python -m benchmarks.sandbox_overhead
    python -m benchmarks.sandbox_overhead --pairs 40 --runs 200 --sandbox landlock

A project with one small test file has an environment with pytest. Pairs of runs take turns: its tests without anything,
and the same command in the sandbox, once in a new process and once in the warm process. Then many runs are made, also
some that fail and some that are killed, and everything is counted that was not there before: mounts, processes,
folders for temporary files and files of the project.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.layouts.environments import EnvironmentCache, run
from benchmarks.layouts.judge import BEST, find_sandboxes, use_sandbox
from benchmarks.layouts.layout import PythonEnvironment
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.runner_registry import find_runner
from lsp_harness.verify.project_tests.suite_runner import Selection, SuiteRunner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker

CALC = "def add(left, right):\n    return left + right\n"
TESTS = "from calc import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"
ENDLESS = "while True:\n    pass\n"
TEST_S = 2.0
KILLED_EVERY = 20
"""Every such run has an endless text and a short limit."""
Times = list[float]


@dataclass(frozen=True, slots=True)
class TinyProject:
    """A project with one test.

    Attributes:
        root: The project.
        runner: What runs its tests.
    """

    root: Path
    runner: SuiteRunner

    @property
    def file(self) -> Path:
        """The module that is edited."""
        return self.root / "calc.py"

    def propose(self, number: int) -> Mapping[Path, bytes]:
        """Return a text of the module that no run has seen. Every fourth one fails its test."""
        text = CALC if number % 4 else CALC.replace("+", "-")
        return {self.file: f"{text}# {number}\n".encode()}


def make_project(place: Path, cache: Path) -> TinyProject:
    """Write the project and its environment."""
    root = place / "project"
    root.mkdir()
    (root / "calc.py").write_text(CALC)
    (root / "test_calc.py").write_text(TESTS)
    (root / "pytest.ini").write_text("[pytest]\n")
    python = EnvironmentCache(cache, is_local=True).add_python(root, PythonEnvironment())
    # the compiled files of pytest, which every environment in use has
    run([str(python), "-m", "pytest", "-q"], root)
    runner = find_runner(root, "calc.py")
    assert runner
    return TinyProject(root, runner)


def run_bare(project: TinyProject, place: Path) -> None:
    """Run the tests without a sandbox, by the command of the sandboxed run."""
    report = place / "bare" / "report.xml"
    report.parent.mkdir(exist_ok=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    subprocess.run(
        project.runner.command(Selection(("test_calc.py",), report)),
        cwd=project.root,
        env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )


async def measure_pairs(project: TinyProject, place: Path, sandbox: Sandbox, pairs: int) -> dict[str, Times]:
    """Return the milliseconds of each kind of run, in pairs."""
    choice = SuiteChoice(("test_calc.py",))
    lines = replace(choice, lines={project.file: frozenset({2})})
    worker = await SuiteWorker.start(project.runner, project.root, sandbox, ResourceLimits(), TEST_S)
    same = {project.file: CALC.encode()}

    async def bare() -> None:
        await asyncio.to_thread(run_bare, project, place)

    async def confined(choice: SuiteChoice = choice) -> None:
        check(await run_tests(project.runner, project.root, same, choice, sandbox))

    async def warm() -> None:
        check(await worker.run(same, choice))

    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "bare": bare,
        "sandbox": confined,
        "sandbox with recorded lines": lambda: confined(lines),
        "warm process": warm,
    }
    times: dict[str, Times] = {name: [] for name in kinds}
    try:
        for number in range(-1, pairs):
            for name, start_run in kinds.items():
                start = perf_counter()
                await start_run()
                if number >= 0:
                    times[name].append(1000 * (perf_counter() - start))
    finally:
        await worker.aclose()
    return times


def check(result: SuiteRun) -> None:
    """Raise AssertionError if the one test of the project did not pass."""
    assert result.digest.passed == 1, result.result.output.decode("utf-8", "replace")[-2000:]


def report(times: Mapping[str, Times]) -> None:
    """Print the medians and what the sandbox adds to a run beside it."""
    bare = times["bare"]
    print(f"bare: p50 {statistics.median(bare):.0f} ms of {len(bare)} runs")
    for name, some in times.items():
        if name != "bare":
            added = [own - other for own, other in zip(some, bare, strict=True)]
            print(f"{name}: p50 {statistics.median(some):.0f} ms, added p50 {statistics.median(added):+.0f} ms")


def count_things(project: TinyProject, place: Path) -> dict[str, set[str]]:
    """Return what exists now that a run could leave: mounts, processes, folders and files."""
    this = psutil.Process()
    processes = {f"{child.pid} {child.name()}" for child in this.children(recursive=True)}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = [*process.cmdline(), process.cwd(), *process.environ().values()]
            if process != this and any(str(place) in word for word in words):
                processes.add(f"{process.pid} {process.name()}")
    return {
        "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
        "processes": processes,
        "temporary files": {path.name for path in Path(tempfile.gettempdir()).iterdir()},
        "files of the project": {str(path) for path in project.root.rglob("*")},
    }


async def run_many(project: TinyProject, sandbox: Sandbox, runs: int) -> None:
    """Make many runs, in new processes and in the warm one. Some fail, and some are killed."""
    choice = SuiteChoice(("test_calc.py",))
    short = replace(choice, limits=ResourceLimits(wall_s=1.0))
    worker = await SuiteWorker.start(project.runner, project.root, sandbox, ResourceLimits(), TEST_S)
    try:
        for number in range(runs):
            if number % KILLED_EVERY == 0:
                await run_tests(project.runner, project.root, {project.file: ENDLESS.encode()}, short, sandbox)
            elif number % 2:
                await run_tests(project.runner, project.root, project.propose(number), choice, sandbox)
            else:
                await worker.run(project.propose(number), choice)
    finally:
        await worker.aclose()


async def measure(place: Path, cache: Path, sandbox: Sandbox, pairs: int, runs: int) -> int:
    """Print all measurements, and return how many things the runs left."""
    project = await asyncio.to_thread(make_project, place, cache)
    if pairs:
        report(await measure_pairs(project, place, sandbox, pairs))
    before = count_things(project, place)
    start = perf_counter()
    await run_many(project, sandbox, runs)
    seconds = perf_counter() - start
    left = {name: now - before[name] for name, now in count_things(project, place).items()}
    counts = ", ".join(f"{len(some)} {name}" for name, some in left.items())
    print(f"left by {runs} runs in {seconds:.0f} s: {counts}")
    for name, some in left.items():
        for one in sorted(some)[:5]:
            print(f"  {name}: {one}")
    return sum(map(len, left.values()))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sandbox", action="append", default=[], help="its name, `best` (the default) or `all`")
    args = parser.parse_args()
    left = 0
    for name in find_sandboxes() if "all" in args.sandbox else args.sandbox or [BEST]:
        with tempfile.TemporaryDirectory(prefix="overhead-") as folder, use_sandbox(name):
            place = Path(folder).resolve()
            for part in ("temporary", "cache"):
                (place / part).mkdir()
            # all folders of the harness for temporary files lie in one of our own
            os.environ["TMPDIR"] = tempfile.tempdir = str(place / "temporary")
            try:
                sandbox = machine_sandbox().sandbox
                print(f"sandbox: {sandbox.name}")
                left += asyncio.run(measure(place, place / "cache", sandbox, args.pairs, args.runs))
            finally:
                del os.environ["TMPDIR"]
                tempfile.tempdir = None
    raise SystemExit(bool(left))


if __name__ == "__main__":
    main()
