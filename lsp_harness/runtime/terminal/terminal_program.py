"""A program in a terminal of ours, on any system, and its start: a pseudo-terminal, or a console of Windows."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lsp_harness.process.process_tree import LeadingChild
from lsp_harness.runtime.agent_errors import CliNotFound, SpawnFailed
from lsp_harness.runtime.terminal.terminal_viewer import PausableOutput

UTF8_LOCALE = "C.UTF-8"
OUTER_TERMINAL = ("TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "STY", "COLUMNS", "LINES", "WT_SESSION")
"""Variables about the terminal of this process, which say nothing about the new one."""


class WritableTerminal(Protocol):
    """The input of a terminal."""

    def add(self, data: bytes) -> bool:
        """Type bytes. Return whether they were taken: not all of them are if too many wait already."""
        ...

    def close(self) -> None:
        """Drop the input that was not written yet."""
        ...


class ReadableTerminal(PausableOutput, Protocol):
    """The output of a terminal."""

    ended: asyncio.Event
    """Is set when all output was read, or nobody reads it any more."""

    def close(self) -> None:
        """Stop reading the output of the program."""
        ...


class TerminalProgram(LeadingChild, Protocol):
    """A program in a terminal.

    Attributes:
        program_pid: The number of the program.
    """

    program_pid: int

    def open_input(self) -> WritableTerminal:
        """Return the input of the terminal."""
        ...

    def open_output(self, receive: Callable[[bytes], None]) -> ReadableTerminal:
        """Begin to read the output of the terminal, and give it to a function."""
        ...

    def request_end(self, grace_s: float) -> None:
        """End the program and all its descendants in the background. 0 seconds kills them at once."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal, and tell the program."""
        ...

    def close(self) -> None:
        """Close the terminal, and end all processes that are left."""
        ...


async def start_program(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int, rows: int
) -> TerminalProgram:
    """Start a program in a terminal.

    Args:
        argv: The command. The first item is found on PATH of `env`.
        cwd: The folder in which it runs.
        env: All environment variables of the program.
        columns: The width of its terminal.
        rows: The height of its terminal.

    Raises:
        CliNotFound: The program is not there.
        SpawnFailed: It cannot be started.
        ExtraMissing: The packages for terminals are not installed.
    """
    _check_start(argv[0], cwd, env)
    if sys.platform == "win32":
        from lsp_harness.runtime.terminal.console_program import ConsoleProgram

        return await ConsoleProgram.start(argv, cwd=cwd, env=env, columns=columns, rows=rows)
    from lsp_harness.runtime.terminal.pty_program import PtyProgram

    return await PtyProgram.start(argv, cwd=cwd, env=env, columns=columns, rows=rows)


def terminal_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that describes our terminal to a program."""
    inner = {name: value for name, value in env.items() if name not in OUTER_TERMINAL}
    inner |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    locale = next((inner[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if inner.get(name)), "")
    if "utf" not in locale.lower():
        inner.pop("LC_ALL", None)
        inner.pop("LC_CTYPE", None)
        inner["LANG"] = UTF8_LOCALE
    return inner


def _check_start(name: str, cwd: Path, env: Mapping[str, str]) -> None:
    if not cwd.is_dir():
        raise SpawnFailed(f"The folder {cwd} does not exist.", "Create the folder, or name another one as workdir.")
    has_folder = os.path.dirname(name) != ""
    is_there = os.path.lexists(cwd / name) if has_folder else shutil.which(name, path=env.get("PATH", os.defpath))
    if not is_there:
        raise CliNotFound(f"The program {name} is not installed.", f"Install {name}, so that it is found on PATH.")
