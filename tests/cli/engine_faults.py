"""What each command does where the process of the model is stopped (SIGSTOP) or was killed (SIGKILL): one outcome a cell."""

from dataclasses import dataclass
from typing import Literal

Fault = Literal["SIGSTOP", "SIGKILL"]
Engine = Literal["left alone", "ended", "replaced", "started", "none"]
"""What has become of the process that held the socket, and whether another one runs: `replaced` is both."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`code` is the exit status; `out` and `err` are what the output must contain."""

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

CELLS = (
    # a model is needed
    # it asks twice: what it asks first ends the stuck process, what it asks then starts another
    Cell(("complete", "half.py:2:12"), "SIGSTOP", 0, "replaced", err=STUCK),
    Cell(("complete", "half.py:2:12"), "SIGKILL", 0, "started"),
    Cell(("fix", "unknown.py"), "SIGSTOP", 4, "ended", err=STUCK),
    # the engine was started, and the tiny model mends nothing
    Cell(("fix", "unknown.py"), "SIGKILL", 5, "started"),
    # ruff's own fix is enough
    Cell(("fix", "unused.py"), "SIGSTOP", 0, "left alone", out="-import os"),
    Cell(("fix", "unused.py"), "SIGKILL", 0, "none", out="-import os"),
    # a model would only count
    Cell(("context", "half.py:2:12"), "SIGSTOP", 0, "left alone", "def area", ESTIMATES),
    Cell(("context", "half.py:2:12"), "SIGKILL", 0, "started", "def area"),
    Cell(("context", "half.py:2", "--task", "use pi"), "SIGSTOP", 0, "left alone", "use pi", ESTIMATES),
    Cell(("session",), "SIGSTOP", 0, "left alone", "Goal: use pi", "tokens are estimated"),
    Cell(("session",), "SIGKILL", 0, "none", "Goal: use pi"),
    # none is needed
    Cell(("search", "area"), "SIGSTOP", 0, "left alone", "half.py"),
    Cell(("search", "area"), "SIGKILL", 0, "none", "half.py"),
    Cell(("index",), "SIGSTOP", 0, "left alone"),
    Cell(("index",), "SIGKILL", 0, "none"),
    Cell(("locate", "the area of a circle"), "SIGSTOP", 0, "left alone", "half.py"),
    Cell(("locate", "the area of a circle"), "SIGKILL", 0, "none", "half.py"),
    # about the process itself
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
