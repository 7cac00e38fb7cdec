"""The progress of a pull: a bar on a terminal, a line for every ten per cent in a log, or nothing.

Everything is written to stderr, because stdout is for results, and for the protocol of a stdio server.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

MIB = 1 << 20


def format_mib(size: int) -> str:
    """Return a number of bytes in MiB."""
    return f"{size / MIB:,.0f} MiB"


class PullReport(Protocol):
    """Receives the progress of a pull."""

    def note(self, text: str) -> None:
        """Show a line that stays on the screen."""
        ...

    def step(self, text: str) -> None:
        """Show the step that begins now."""
        ...

    def begin(self, start: int, total: int) -> None:
        """Begin a download of `total` bytes (0: unknown), of which `start` bytes exist already."""
        ...

    def progress(self, done: int) -> None:
        """Show that `done` bytes exist now."""
        ...


class SilentReport:
    """Shows nothing (`--quiet`). A failure is in the error that is raised."""

    def note(self, text: str) -> None: ...

    def step(self, text: str) -> None: ...

    def begin(self, start: int, total: int) -> None: ...

    def progress(self, done: int) -> None: ...


@contextmanager
def stderr_report(*, quiet: bool = False) -> Generator[PullReport]:
    """Give a report that fits stderr: a bar on a terminal, lines elsewhere, nothing if `quiet`."""
    if quiet:
        yield SilentReport()
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _LineReport(console)
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(
        TextColumn("{task.description}", markup=False), *columns, console=console, transient=True
    ) as progress:
        yield _BarReport(progress)


class EventReport:
    """Passes JSON objects for another program to `write`."""

    INTERVAL_BYTES = MIB
    """Bytes between two objects; one for each chunk would be too many."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._write = write
        self._total = 0
        self._reported = 0

    def note(self, text: str) -> None:
        self._write({"note": text})

    def step(self, text: str) -> None:
        self._write({"step": text})

    def begin(self, start: int, total: int) -> None:
        self._total = total
        self._write_progress(start)

    def progress(self, done: int) -> None:
        if done - self._reported >= self.INTERVAL_BYTES or done == self._total:
            self._write_progress(done)

    def _write_progress(self, done: int) -> None:
        self._reported = done
        self._write({"done": done, "total": self._total})


class _LineReport:
    """Writes a line for every ten per cent."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._step = ""
        self._total = 0
        self._tenth = -1

    def note(self, text: str) -> None:
        self._console.out(text)

    def step(self, text: str) -> None:
        self._step = text

    def begin(self, start: int, total: int) -> None:
        self._total = total
        self._tenth = self._count_tenths(start)

    def progress(self, done: int) -> None:
        tenth = self._count_tenths(done)
        if tenth == self._tenth:
            return
        self._tenth = tenth
        of = f" of {self._total / MIB:.0f}" if self._total else ""
        self._console.out(f"{done / MIB:8.0f}{of} MiB  {self._step}")

    def _count_tenths(self, done: int) -> int:
        # without a known size: a line for every 100 MiB
        return done * 10 // self._total if self._total else done // (100 * MIB)


class _BarReport:
    """Shows a progress bar."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def note(self, text: str) -> None:
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def step(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def begin(self, start: int, total: int) -> None:
        # reset the bar if it does not continue, because bytes of an earlier run would count as speed;
        # if it continues, the time that pip takes for the next wheel counts
        task = self._progress.tasks[0]
        if (task.completed, task.total) != (start, total or None):
            self._progress.reset(self._task, completed=start, total=total or None)

    def progress(self, done: int) -> None:
        self._progress.update(self._task, completed=done)
