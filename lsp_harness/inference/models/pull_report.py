"""How a pull tells a person what it is doing: a bar on a terminal, a line every ten per cent in a log, or nothing.

Everything goes to stderr; stdout belongs to results, and in a stdio server to the protocol.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

MIB = 1 << 20


class Report(Protocol):
    """What a pull has to say."""

    def note(self, text: str) -> None:
        """One line that stays on the screen."""
        ...

    def step(self, text: str) -> None:
        """What is being done from now on."""
        ...

    def begin(self, at: int, total: int) -> None:
        """Bytes start to come; `at` of `total` (0: unknown) were already there."""
        ...

    def at(self, done: int) -> None:
        """So many bytes are there now."""
        ...


class SilentReport:
    """`--quiet`: failures are in the error that is raised, the rest nobody asked for."""

    def note(self, text: str) -> None: ...

    def step(self, text: str) -> None: ...

    def begin(self, at: int, total: int) -> None: ...

    def at(self, done: int) -> None: ...


@contextmanager
def stderr_report(*, quiet: bool = False) -> Generator[Report]:
    """A report for whatever stderr is."""
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
    """JSON lines for a program that reads along; `write` gets each."""

    STEP = MIB
    """Bytes between two lines: a line for every chunk would be more talk than download."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._write = write
        self._total = 0
        self._said = 0

    def note(self, text: str) -> None:
        self._write({"note": text})

    def step(self, text: str) -> None:
        self._write({"step": text})

    def begin(self, at: int, total: int) -> None:
        self._total = total
        self._say(at)

    def at(self, done: int) -> None:
        if done - self._said >= self.STEP or done == self._total:
            self._say(done)

    def _say(self, done: int) -> None:
        self._said = done
        self._write({"done": done, "total": self._total})


class _LineReport:
    """A line for every ten per cent."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._step = ""
        self._total = 0
        self._tenth = -1

    def note(self, text: str) -> None:
        self._console.out(text)

    def step(self, text: str) -> None:
        self._step = text

    def begin(self, at: int, total: int) -> None:
        self._total = total
        self._tenth = self._tenths(at)

    def at(self, done: int) -> None:
        tenth = self._tenths(done)
        if tenth == self._tenth:
            return
        self._tenth = tenth
        of = f" of {self._total / MIB:.0f}" if self._total else ""
        self._console.out(f"{done / MIB:8.0f}{of} MiB  {self._step}")

    def _tenths(self, done: int) -> int:
        # Without a known size every 100 MiB is a line.
        return done * 10 // self._total if self._total else done // (100 * MIB)


class _BarReport:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def note(self, text: str) -> None:
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def step(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def begin(self, at: int, total: int) -> None:
        # A reset if it does not go on from what is shown: bytes of an earlier run would count as speed. Otherwise none,
        # so that the time pip takes for the next wheel does count.
        shown = self._progress.tasks[0]
        if (shown.completed, shown.total) != (at, total or None):
            self._progress.reset(self._task, completed=at, total=total or None)

    def at(self, done: int) -> None:
        self._progress.update(self._task, completed=done)
