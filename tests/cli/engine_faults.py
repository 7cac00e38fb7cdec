"""The expected outcome of each command beside an engine that is stopped (SIGSTOP) or was killed (SIGKILL)."""

from dataclasses import dataclass
from typing import Literal

Fault = Literal["SIGSTOP", "SIGKILL"]
Engine = Literal["left alone", "ended", "replaced", "started", "none"]
"""The end of the process that owned the socket. `replaced` means that it was ended and another one was started."""


@dataclass(frozen=True, slots=True)
class CommandOutcome:
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


def _make_both_cells(
    command: tuple[str, ...], code: int, *, out: str = "", err: str = ""
) -> tuple[CommandOutcome, CommandOutcome]:
    """Return the cells of a command that does not use the engine."""
    return CommandOutcome(command, "SIGSTOP", code, "left alone", out, err), CommandOutcome(
        command, "SIGKILL", code, "none", out, err
    )


CELLS = (
    # a model is needed
    # the first request ends the stuck process, and the second one starts another
    CommandOutcome(("complete", "half.py:2:12"), "SIGSTOP", 0, "replaced", err=STUCK),
    CommandOutcome(("complete", "half.py:2:12"), "SIGKILL", 0, "started"),
    CommandOutcome(("fix", "unknown.py"), "SIGSTOP", 4, "ended", err=STUCK),
    # the engine is started, but the tiny model repairs nothing
    CommandOutcome(("fix", "unknown.py"), "SIGKILL", 5, "started"),
    # ruff's own fix is enough
    CommandOutcome(("fix", "unused.py"), "SIGSTOP", 0, "left alone", out="-import os"),
    CommandOutcome(("fix", "unused.py"), "SIGKILL", 0, "none", out="-import os"),
    # the model is only needed to count tokens
    CommandOutcome(("context", "half.py:2:12"), "SIGSTOP", 0, "left alone", "def area", ESTIMATES),
    CommandOutcome(("context", "half.py:2:12"), "SIGKILL", 0, "started", "def area"),
    CommandOutcome(("context", "half.py:2", "--task", "use pi"), "SIGSTOP", 0, "left alone", "use pi", ESTIMATES),
    CommandOutcome(
        ("sessions", "show", "--summary"), "SIGSTOP", 0, "left alone", "Goal: use pi", "tokens are estimated"
    ),
    CommandOutcome(("sessions", "show", "--summary"), "SIGKILL", 0, "none", "Goal: use pi"),
    CommandOutcome(("fix", "unused.py", "--apply"), "SIGSTOP", 0, "left alone", out="; applied"),
    CommandOutcome(("fix", "unused.py", "--apply"), "SIGKILL", 0, "none", out="; applied"),
    CommandOutcome(("context", "half.py:2", "--task", "use pi"), "SIGKILL", 0, "started", "use pi"),
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
    CommandOutcome(("search", "area"), "SIGSTOP", 0, "left alone", "half.py"),
    CommandOutcome(("search", "area"), "SIGKILL", 0, "none", "half.py"),
    CommandOutcome(("index",), "SIGSTOP", 0, "left alone"),
    CommandOutcome(("index",), "SIGKILL", 0, "none"),
    CommandOutcome(("locate", "the area of a circle"), "SIGSTOP", 0, "left alone", "half.py"),
    CommandOutcome(("locate", "the area of a circle"), "SIGKILL", 0, "none", "half.py"),
    # commands about the process itself
    *_make_both_cells(("engine", "logs"), 4, err="no engine has written a log yet"),
    *_make_both_cells(("engine", "token"), 4, err="there is no token yet"),
    CommandOutcome(("doctor",), "SIGSTOP", 1, "left alone", "stopped by a signal; lsp-harness engine stop ends it"),
    CommandOutcome(("doctor",), "SIGKILL", 0, "none", "not running; the first request starts it"),
    CommandOutcome(("engine", "status"), "SIGSTOP", 0, "left alone", "an engine that does not answer (process "),
    CommandOutcome(("engine", "status"), "SIGKILL", 0, "none", "no engine is running"),
    CommandOutcome(("engine", "stop"), "SIGSTOP", 0, "ended", "stopped 1 engine"),
    CommandOutcome(("engine", "stop"), "SIGKILL", 0, "none", "no engine is running"),
    CommandOutcome(("engine", "start"), "SIGSTOP", 0, "replaced", "tiny (process "),
    CommandOutcome(("engine", "start"), "SIGKILL", 0, "started", "tiny (process "),
    CommandOutcome(("engine", "restart"), "SIGSTOP", 0, "replaced", "tiny (process "),
    CommandOutcome(("engine", "restart"), "SIGKILL", 0, "started", "tiny (process "),
)
