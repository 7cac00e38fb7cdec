"""`lsp-harness bench`: measure the engine with real work, and compare it with llama-server if the user names one.

Each benchmark starts its own engine in its own directories, and ends it. It never uses a running engine of the user.
Results go to standard output, and progress goes to standard error.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import UsageError
from lsp_harness.text.wording import format_count

if TYPE_CHECKING:
    from benchmarks.engine.figures import Result
    from benchmarks.engine.lab import Lab

app = cyclopts.App(name="bench", help="Measure the speed of the engine.")
BENCHMARKS_WITHOUT_EDITS = ("lookup",)
"""Benchmarks that need no real edits of a repository."""
BENCHMARKS = ("typing", "jump", "candidates", "preempt", "cancel", "restart", "share", "lookup", "threads", "indexing")


@Parameter(name="*")
@dataclass(frozen=True)
class BenchOptions:
    """The options of each benchmark."""

    anchor: Annotated[
        Path | None,
        Parameter(
            help="A llama-server program to compare with. The default is LSP_HARNESS_BENCH_ANCHOR; without it, nothing "
            "is compared."
        ),
    ] = None
    repo: Annotated[
        Path | None,
        Parameter(
            help="A git repository. The benchmark replays its recent commits as if a user typed them. The default is "
            "the development set of lsp-harness."
        ),
    ] = None
    limit: Annotated[int, Parameter(help="Stop after this number of keys, jumps, tasks or rounds; 0 means all.")] = 0
    anchor_every: Annotated[
        int,
        Parameter(
            help="Send only every Nth edit, jump or key to llama-server too, because llama-server takes most of the "
            "time; 1 means all."
        ),
    ] = 1


TABLE_WIDTH = 140
RestOption = Annotated[
    bool,
    Parameter(negative="", help="Wait before each edit until its full prompt is evaluated, as when the cursor rests."),
]
RunOptions = Annotated[BenchOptions | None, Parameter(name="*")]


@app.command
def typing(*, run: RunOptions = None, rest: RestOption = False, json: JsonOption = False) -> int:
    """Measure keystrokes of real edits: evaluated tokens, time to the first token, time of 16 tokens."""
    return _print_result("typing", run, json=json, rest=rest)


@app.command
def jump(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure the time to the first token after the cursor jumps to a near place, to a far place, or back.

    The user waits 300 ms between the jump and the first key.
    """
    return _print_result("jump", run, json=json)


@app.command
def candidates(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure eight candidates for one prompt, and compare one request with eight requests."""
    return _print_result("candidates", run, json=json)


@app.command
def preempt(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure typing while the engine generates five candidates in the background."""
    return _print_result("preempt", run, json=json)


@app.command
def cancel(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure the time from a closed connection until the engine does other work."""
    return _print_result("cancel", run, json=json)


@app.command
def restart(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure the first completion in a file that was in use before the engine was killed."""
    return _print_result("restart", run, json=json)


@app.command
def share(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure four clients that take turns in four files."""
    return _print_result("share", run, json=json)


@app.command
def lookup(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure rewriting a function with and without drafts, which are guesses copied from the prompt."""
    return _print_result("lookup", run, json=json)


@app.command
def indexing(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure typing while a large folder is indexed for the first time."""
    return _print_result("indexing", run, json=json)


@app.command
def threads(*, run: RunOptions = None, json: JsonOption = False) -> int:
    """Measure generation while other processes use all cores."""
    return _print_result("threads", run, json=json)


@app.command
def report(
    results: Annotated[
        Sequence[Path],
        Parameter(help="Files with the output of benchmarks with --json. Without files, all benchmarks are run."),
    ] = (),
    /,
    *,
    out: Annotated[Path, Parameter(help="The HTML file to write.")] = Path("bench.html"),
    run: RunOptions = None,
) -> int:
    """Write the results as one HTML page with plots."""
    from benchmarks.engine.report import render_page

    measured = [_read_result(file) for file in results] or [_measure(name, run) for name in BENCHMARKS]
    try:
        out.write_text(render_page(measured), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written ({describe_system_error(error)}); name another file with --out"
        ) from error
    say(f"{out}: {format_count(len(measured), 'benchmark')}")
    return 0


def _print_result(name: str, run: BenchOptions | None, *, json: bool, rest: bool = False) -> int:
    result = _measure(name, run, rest=rest)
    print_json(result.to_json()) if json else _print_table(result)
    return 0


def _measure(name: str, run: BenchOptions | None, *, rest: bool = False) -> "Result":
    from benchmarks.engine.lab import Options, open_lab

    options = run or BenchOptions()
    if options.limit < 0:
        raise UsageError("--limit must be 0 (all) or more")
    if options.anchor_every < 1:
        raise UsageError("--anchor-every must be 1 (all) or more")
    suite: Callable[[Lab], Awaitable[Result]] = import_module(f"benchmarks.engine.suite.{name}").run

    async def measure() -> "Result":
        task = asyncio.current_task()
        assert task
        # otherwise the engine and llama-server would run on after this process
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        lab_options = Options(options.anchor, options.repo, options.limit, options.anchor_every, rest)
        async with open_lab(
            lab_options, lambda text: _show_progress(name, text), replays=name not in BENCHMARKS_WITHOUT_EDITS
        ) as lab:
            return await suite(lab)

    try:
        return asyncio.run(measure())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        _show_progress("", "")


def _show_progress(name: str, text: str) -> None:
    """Show the progress in one line, if standard error is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{name}: {text}" if name else "\r\x1b[K")
        sys.stderr.flush()


def _print_table(result: "Result") -> None:
    from rich.table import Table

    from benchmarks.engine.report import HEADINGS, NUMBER_COLUMNS, make_figure_cells

    table = Table(box=None)
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in NUMBER_COLUMNS else "left", no_wrap=True)
    for figure in result.figures:
        table.add_row(*make_figure_cells(figure))
    say(f"{result.name}: {result.title}")
    # a pipe has no width, and the program that reads it needs whole lines
    terminal = console()
    terminal.width = max(terminal.width, TABLE_WIDTH)
    terminal.print(table)
    for note in result.notes:
        say(f"  {note}")
    say("  " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.machine.items()))


def _read_result(file: Path) -> "Result":
    from benchmarks.engine.figures import read_result

    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return read_result(body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} is not a saved benchmark result ({type(error).__name__}); make one with lsp-harness bench … --json"
        ) from error
