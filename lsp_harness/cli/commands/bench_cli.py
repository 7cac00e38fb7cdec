"""`lsp-harness bench`: measure the engine with real work, and compare it with llama-server if there is one.

Every benchmark starts an engine of its own, in directories of its own, and ends it; a running engine of the user's is
never touched. Results go to stdout, progress to stderr.
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

from lsp_harness.cli.console import AsJson, as_json, console, say
from lsp_harness.errors import UsageError
from lsp_harness.text.wording import format_count

if TYPE_CHECKING:
    from lsp_harness.bench.figures import Result
    from lsp_harness.bench.lab import Lab

app = cyclopts.App(name="bench", help="Measure the speed of the engine.")
OWN_TEXT = ("lookup",)
"""Those that need no real edits."""
ALL = ("typing", "jump", "candidates", "preempt", "cancel", "restart", "share", "lookup", "threads", "indexing")


@Parameter(name="*")
@dataclass(frozen=True)
class Run:
    """What every benchmark may be told."""

    anchor: Annotated[
        Path | None,
        Parameter(help="A llama-server program to compare with. The default is LSP_HARNESS_BENCH_ANCHOR, or none."),
    ] = None
    repo: Annotated[
        Path | None,
        Parameter(help="A git repository whose recent commits are typed again, instead of the development set."),
    ] = None
    limit: Annotated[int, Parameter(help="Stop after this number of requests or rounds; 0 means all.")] = 0
    anchor_every: Annotated[
        int,
        Parameter(
            help="Let llama-server do only one in this number of edits, jumps or keys, because it takes most of the time."
        ),
    ] = 1


WIDE = 140
Rest = Annotated[
    bool,
    Parameter(negative="", help="Wait before each edit until its full prompt is evaluated, as when the cursor rests."),
]
Settings = Annotated[Run | None, Parameter(name="*")]


@app.command
def typing(*, run: Settings = None, rest: Rest = False, json: AsJson = False) -> int:
    """Keystrokes of real edits: tokens evaluated, time to first token, a 16-token completion."""
    return _one("typing", run, json=json, rest=rest)


@app.command
def jump(*, run: Settings = None, json: AsJson = False) -> int:
    """Cursor jumps, near, far and back, with 300 ms of rest before the first key."""
    return _one("jump", run, json=json)


@app.command
def candidates(*, run: Settings = None, json: AsJson = False) -> int:
    """Eight candidates over one prompt, beside eight calls."""
    return _one("candidates", run, json=json)


@app.command
def preempt(*, run: Settings = None, json: AsJson = False) -> int:
    """Typing while five candidates are generated in the background."""
    return _one("preempt", run, json=json)


@app.command
def cancel(*, run: Settings = None, json: AsJson = False) -> int:
    """From a closed connection until the engine does other work."""
    return _one("cancel", run, json=json)


@app.command
def restart(*, run: Settings = None, json: AsJson = False) -> int:
    """The first completion in a hot file after the engine was killed."""
    return _one("restart", run, json=json)


@app.command
def share(*, run: Settings = None, json: AsJson = False) -> int:
    """Four clients taking turns in four files."""
    return _one("share", run, json=json)


@app.command
def lookup(*, run: Settings = None, json: AsJson = False) -> int:
    """Rewriting a function with and without drafting from the prompt."""
    return _one("lookup", run, json=json)


@app.command
def indexing(*, run: Settings = None, json: AsJson = False) -> int:
    """Typing while a large folder is indexed for the first time."""
    return _one("indexing", run, json=json)


@app.command
def threads(*, run: Settings = None, json: AsJson = False) -> int:
    """Generation while every core is kept busy by other processes."""
    return _one("threads", run, json=json)


@app.command
def report(
    results: Annotated[
        Sequence[Path], Parameter(help="Files with results that --json printed. Without files, every benchmark is run.")
    ] = (),
    /,
    *,
    out: Annotated[Path, Parameter(help="The HTML file to write.")] = Path("bench.html"),
    run: Settings = None,
) -> int:
    """Write one self-contained HTML page of results, with plots."""
    from lsp_harness.bench.report import render_page

    found = [_saved(file) for file in results] or [_measured(name, run) for name in ALL]
    try:
        out.write_text(render_page(found), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    say(f"{out}: {format_count(len(found), 'benchmark')}")
    return 0


def _one(name: str, run: Run | None, *, json: bool, rest: bool = False) -> int:
    result = _measured(name, run, rest=rest)
    as_json(result.to_json()) if json else _table(result)
    return 0


def _measured(name: str, run: Run | None, *, rest: bool = False) -> "Result":
    from lsp_harness.bench.lab import Options, open_lab

    given = run or Run()
    if given.limit < 0:
        raise UsageError("--limit must be 0 (all) or more")
    if given.anchor_every < 1:
        raise UsageError("--anchor-every must be 1 (all) or more")
    suite: Callable[[Lab], Awaitable[Result]] = import_module(f"lsp_harness.bench.suite.{name}").run

    async def measure() -> "Result":
        task = asyncio.current_task()
        assert task
        # the engine and llama-server would outlive us
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        options = Options(given.anchor, given.repo, given.limit, given.anchor_every, rest)
        async with open_lab(options, lambda text: _progress(name, text), replays=name not in OWN_TEXT) as lab:
            return await suite(lab)

    try:
        return asyncio.run(measure())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        _progress("", "")


def _progress(name: str, text: str) -> None:
    """One line on stderr that replaces itself; nothing where nobody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{name}: {text}" if name else "\r\x1b[K")
        sys.stderr.flush()


def _table(result: "Result") -> None:
    from rich.table import Table

    from lsp_harness.bench.report import HEADINGS, NUMBER_COLUMNS, figure_cells

    table = Table(box=None)
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in NUMBER_COLUMNS else "left", no_wrap=True)
    for figure in result.figures:
        table.add_row(*figure_cells(figure))
    say(f"{result.name}: {result.title}")
    # a pipe has no width to fit into
    terminal = console()
    terminal.width = max(terminal.width, WIDE)
    terminal.print(table)
    for note in result.notes:
        say(f"  {note}")
    say("  " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.machine.items()))


def _saved(file: Path) -> "Result":
    from lsp_harness.bench.figures import from_json

    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return from_json(body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} is not a saved benchmark result ({type(error).__name__}); make one with lsp-harness bench … --json"
        ) from error
