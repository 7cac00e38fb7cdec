"""The verdict of the harness on generated projects: each layout, five edits whose right verdict is known, each sandbox.

    python -m benchmarks.layouts.matrix
    python -m benchmarks.layouts.matrix --prove
    python -m benchmarks.layouts.matrix --only setuptools --sandbox landlock --json matrix.json

The first run fetches packages from the registries of Python and node into a cache. With `--prove`, the harness is not
asked: each project's own command shows on the edited files that the expected verdicts are right.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import shutil
import statistics
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.layouts import compiled_layouts, node_layouts, python_layouts, python_surroundings
from benchmarks.layouts.builder import build_layout, find_missing
from benchmarks.layouts.environments import EnvironmentCache, FailedInstallationError
from benchmarks.layouts.judge import BEST, Judge, Judgement, find_sandboxes, switch_types_off, use_sandbox
from benchmarks.layouts.layout import Layout

LAYOUTS: tuple[Layout, ...] = (
    *python_layouts.LAYOUTS,
    *python_surroundings.LAYOUTS,
    *node_layouts.LAYOUTS,
    *compiled_layouts.LAYOUTS,
)
"""All layouts."""
CACHE = Path(tempfile.gettempdir()) / "lsp-harness-layouts"
MAX_REASON_CHARS = 110
NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict about one edit of a layout in a sandbox.

    Attributes:
        layout: The layout.
        sandbox: The sandbox.
        edit: The kind of the edit.
        must_fail: Whether the right verdict is "failed".
        found: The verdict.
    """

    layout: str
    sandbox: str
    edit: str
    must_fail: bool
    found: Judgement

    @property
    def rating(self) -> str:
        """The worth of the verdict (see `Judgement.rate`)."""
        return self.found.rate(must_fail=self.must_fail)

    @property
    def row(self) -> dict[str, Any]:
        """A row of a file with everything."""
        row = asdict(self)
        return {**row, **row.pop("found"), "rating": self.rating}


@dataclass(frozen=True, slots=True)
class Task:
    """The edits of one layout in one sandbox, for a process of its own."""

    layout: str
    sandbox: str
    place: Path
    cache: Path
    proves: bool
    has_types: bool


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The verdicts about the edits of a layout, or why there are none."""

    task: Task
    cells: tuple[Cell, ...]
    problem: str
    seconds: float


def run_task(task: Task) -> TaskResult:
    """Build a layout and ask the harness about its edits."""
    start = perf_counter()
    layout = next(one for one in LAYOUTS if one.name == task.layout)
    place = Path(tempfile.mkdtemp(dir=task.place, prefix="p-"))
    cells: tuple[Cell, ...] = ()
    problem = ""
    try:
        os.environ["LSP_HARNESS_HOME"] = str(place / "home")
        if not task.has_types:
            switch_types_off()
        built = build_layout(layout, place, EnvironmentCache(task.cache))
        if task.proves:
            found = [built.find_disproof(edit) for edit in (None, *layout.edits)]
            problem = "\n".join(filter(None, found))
        else:
            cells = asyncio.run(judge_layout(layout, built.root, task.sandbox))
    except FailedInstallationError as error:
        problem = f"not built: {error}"
    except Exception:  # noqa: BLE001 - one layout must not end the others
        problem = traceback.format_exc()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return TaskResult(task, cells, problem, perf_counter() - start)


async def judge_layout(layout: Layout, root: Path, sandbox: str) -> tuple[Cell, ...]:
    """Return the verdict about each edit of a layout.

    Args:
        layout: The layout.
        root: The folder in which it was built.
        sandbox: The name of the sandbox.
    """
    cells: list[Cell] = []
    with use_sandbox(sandbox):
        judge = Judge(root)
        try:
            for edit in layout.edits:
                text = edit.apply((root / edit.path).read_text())
                found = await judge.judge(edit.path, text)
                cells.append(Cell(layout.name, sandbox, edit.kind, edit.must_fail, found))
        finally:
            await judge.aclose()
    return tuple(cells)


def run_tasks(tasks: Sequence[Task], jobs: int) -> Iterator[TaskResult]:
    """Yield the result of each task, in order. Each runs in a new process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        yield from pool.map(run_task, tasks)


def print_result(result: TaskResult, *, all_reasons: bool) -> None:
    """Print one row of the table, and below it what is not right."""
    task = result.task
    marks = {"right": "·", "skipped": "–", "false ✓": "F✓", "silent ✓": "S✓", "false ✗": "F✗"}
    row = "  ".join(f"{cell.edit} {marks[cell.rating]:<2}" for cell in result.cells)
    print(f"{task.layout:<24} {task.sandbox:<11} {row}  {result.seconds:5.1f} s", flush=True)
    if result.problem:
        print("    " + "\n    ".join(result.problem.splitlines()), flush=True)
    for cell in result.cells:
        if all_reasons or cell.rating != "right":
            found = cell.found
            print(f"    {cell.edit}: {found.word}, tests {found.tests or 'none'}: {found.reason[:MAX_REASON_CHARS]}")


def print_summary(cells: Sequence[Cell], seconds: float) -> None:
    """Print the counts of all verdicts."""
    for sandbox in dict.fromkeys(cell.sandbox for cell in cells):
        some = [cell for cell in cells if cell.sandbox == sandbox]
        ratings = Counter(cell.rating for cell in some)
        innocent = [cell for cell in some if not cell.must_fail]
        share = 100 * ratings["false ✗"] / len(innocent) if innocent else 0.0
        times = [cell.found.seconds for cell in some]
        layouts = len({cell.layout for cell in some})
        print(
            f"\n{sandbox}: {len(some)} verdicts on {layouts} layouts: {ratings['right']} right, "
            f"{ratings['false ✓']} false ✓, {ratings['silent ✓']} silent ✓ (no test ran, and nothing says so), "
            f"{ratings['false ✗']} false ✗ ({share:.1f} % of {len(innocent)}), {ratings['skipped']} skipped; "
            f"p50 {statistics.median(times):.2f} s"
        )
        skipped = [cell.found.reason for cell in some if cell.found.tests != "passed" and cell.found.word != "failed"]
        reasons = Counter(NUMBER.sub("N", reason)[:MAX_REASON_CHARS] for reason in skipped)
        for reason, count in reasons.most_common():
            print(f"  {count} × {reason or 'no reason'}")
    print(f"\n{seconds:.0f} s")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a part of the name of a layout; repeatable")
    parser.add_argument("--sandbox", action="append", default=[], help="its name, `best` (the default) or `all`")
    parser.add_argument("--json", type=Path, help="the file for all verdicts")
    parser.add_argument("--prove", action="store_true", help="run the project's own command in place of the harness")
    parser.add_argument("--types", action="store_true", help="let type checkers decide, too")
    parser.add_argument("--reasons", action="store_true", help="print the reasons of all verdicts")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--place", type=Path, help="the folder in which the projects are built")
    parser.add_argument("--cache", type=Path, default=CACHE, help="the folder for fetched packages")
    parser.add_argument("--path", action="append", default=[], help="a folder of programs that is put before PATH")
    parser.add_argument("--list", action="store_true", help="print the names of the layouts")
    args = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([*args.path, os.environ["PATH"]])
    chosen = [one for one in LAYOUTS if not args.only or any(part in one.name for part in args.only)]
    if args.list:
        print("\n".join(layout.name for layout in chosen))
        return
    sandboxes = find_sandboxes() if "all" in args.sandbox else args.sandbox or [BEST]
    if args.prove:
        sandboxes = ["none"]
    usable: list[Layout] = []
    for layout in chosen:
        if missing := find_missing(layout):
            print(f"{layout.name}: left out, {', '.join(missing)} is not on this machine")
        else:
            usable.append(layout)
    start = perf_counter()
    place = Path(tempfile.mkdtemp(dir=args.place, prefix="layouts-"))
    cache = EnvironmentCache(args.cache.resolve())
    cells: list[Cell] = []
    problems = 0
    try:
        cache.fill(usable)
        tasks = [
            Task(layout.name, sandbox, place, args.cache.resolve(), args.prove, args.types)
            for layout in usable
            for sandbox in sandboxes
        ]
        for result in run_tasks(tasks, args.jobs):
            print_result(result, all_reasons=args.reasons)
            cells += result.cells
            problems += bool(result.problem)
            if args.json:
                args.json.write_text(json.dumps([cell.row for cell in cells], indent=1, ensure_ascii=False))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print_summary(cells, perf_counter() - start)
    if problems:
        sys.exit(f"{problems} layouts have a problem")


if __name__ == "__main__":
    main()
