"""The expected outcome of each command beside an engine that is stopped (SIGSTOP) or was killed (SIGKILL)."""

from dataclasses import dataclass
from typing import Literal

Fault = Literal["SIGSTOP", "SIGKILL"]
Engine = Literal["left alone", "ended", "replaced", "started", "none"]
"""The end of the process that owned the socket. `replaced` means that it was ended and another one was started."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of one command: its exit status `code`, and texts that its output must contain."""

    command: tuple[str, ...]
    fault: Fault
    code: int
    engine: Engine
    out: str = ""
    err: str = ""

    @property
    def name(self) -> str:
        return f"{self.fault}-{' '.join(self.command)}"


STUCK = "gave no sign of life for 0.5 s"
ESTIMATES = "token counts are estimates: "


def _make_both_cells(command: tuple[str, ...], code: int, *, out: str = "", err: str = "") -> tuple[Cell, Cell]:
    """Return the cells of a command that does not use the engine."""
    return Cell(command, "SIGSTOP", code, "left alone", out, err), Cell(command, "SIGKILL", code, "none", out, err)


CELLS = (
    # a model is needed
    # the first request ends the stuck process, and the second one starts another
    Cell(("complete", "half.py:2:12"), "SIGSTOP", 0, "replaced", err=STUCK),
    Cell(("complete", "half.py:2:12"), "SIGKILL", 0, "started"),
    Cell(("fix", "unknown.py"), "SIGSTOP", 4, "ended", err=STUCK),
    # the engine is started, but the tiny model repairs nothing
    Cell(("fix", "unknown.py"), "SIGKILL", 5, "started"),
    # ruff's own fix is enough
    Cell(("fix", "unused.py"), "SIGSTOP", 0, "left alone", out="-import os"),
    Cell(("fix", "unused.py"), "SIGKILL", 0, "none", out="-import os"),
    # the model is only needed to count tokens
    Cell(("context", "half.py:2:12"), "SIGSTOP", 0, "left alone", "def area", ESTIMATES),
    Cell(("context", "half.py:2:12"), "SIGKILL", 0, "started", "def area"),
    Cell(("context", "half.py:2", "--task", "use pi"), "SIGSTOP", 0, "left alone", "use pi", ESTIMATES),
    Cell(("sessions", "show", "--summary"), "SIGSTOP", 0, "left alone", "Goal: use pi", "tokens are estimated"),
    Cell(("sessions", "show", "--summary"), "SIGKILL", 0, "none", "Goal: use pi"),
    Cell(("fix", "unused.py", "--apply"), "SIGSTOP", 0, "left alone", out="; applied"),
    Cell(("fix", "unused.py", "--apply"), "SIGKILL", 0, "none", out="; applied"),
    Cell(("context", "half.py:2", "--task", "use pi"), "SIGKILL", 0, "started", "use pi"),
    # no model is needed
    *_make_both_cells(("index", "status"), 0, out="index.db"),
    *_make_both_cells(("index", "rebuild"), 0, out=" files, "),
    *_make_both_cells(("index", "context", "area"), 0, out="def area"),
    *_make_both_cells(("index", "graph", "area"), 0, out="half.py:1 area"),
    *_make_both_cells(("index", "patterns"), 0, out="3 functions named area"),
    *_make_both_cells(("digest", "out.txt"), 1, out="Undefined name `pi`"),
    *_make_both_cells(("docs", "tiny.area"), 0, out="area(r: number): number"),
    *_make_both_cells(("model", "list"), 0, out="qwen2.5-coder-0.5b-instruct"),
    *_make_both_cells(("model", "path", "tiny.gguf"), 0, out="tiny.gguf"),
    *_make_both_cells(("model", "info", "tiny.gguf"), 0, out="architecture"),
    *_make_both_cells(("model", "rm", "qwen2.5-coder-0.5b-instruct"), 3, err="so there is nothing to delete"),
    *_make_both_cells(("models",), 2, err="the settings name no remote server"),
    Cell(("search", "area"), "SIGSTOP", 0, "left alone", "half.py"),
    Cell(("search", "area"), "SIGKILL", 0, "none", "half.py"),
    Cell(("index",), "SIGSTOP", 0, "left alone"),
    Cell(("index",), "SIGKILL", 0, "none"),
    Cell(("locate", "the area of a circle"), "SIGSTOP", 0, "left alone", "half.py"),
    Cell(("locate", "the area of a circle"), "SIGKILL", 0, "none", "half.py"),
    # commands about the process itself
    *_make_both_cells(("engine", "logs"), 4, err="no engine has written a log yet"),
    *_make_both_cells(("engine", "token"), 4, err="there is no token yet"),
    Cell(("doctor",), "SIGSTOP", 1, "left alone", "stopped by a signal; lsp-harness engine stop ends it"),
    Cell(("doctor",), "SIGKILL", 0, "none", "not running; the first request starts it"),
    Cell(("engine", "status"), "SIGSTOP", 0, "left alone", "an engine that does not answer (process "),
    Cell(("engine", "status"), "SIGKILL", 0, "none", "no engine is running"),
    Cell(("engine", "stop"), "SIGSTOP", 0, "ended", "stopped 1 engine"),
    Cell(("engine", "stop"), "SIGKILL", 0, "none", "no engine is running"),
    Cell(("engine", "start"), "SIGSTOP", 0, "replaced", "tiny (process "),
    Cell(("engine", "start"), "SIGKILL", 0, "started", "tiny (process "),
    Cell(("engine", "restart"), "SIGSTOP", 0, "replaced", "tiny (process "),
    Cell(("engine", "restart"), "SIGKILL", 0, "started", "tiny (process "),
)
