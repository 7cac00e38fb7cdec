"""Runs a command in a fork of this process, which has imported everything: real exit statuses and real output, in
milliseconds.

A command that does not end is killed, with what it started, and one that wants too much memory gets none.
"""

import fcntl
import io
import os
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 15.0
ROOM = 1 << 20
MEMORY = 3 << 30
"""Bytes of address space: enough for every command, and soon used up by one that reads a device without end."""


@dataclass(frozen=True)
class CommandEnd:
    """The end of a command: its exit status (None if it had to be killed), its output, and a file after it."""

    code: int | None
    out: str
    err: str
    file: str


@dataclass(frozen=True)
class CommandSurroundings:
    """The surroundings of a command: folder, environment, encoding and target of its output, and a file.

    The output goes to a pipe by default. The file is read when the command has ended, because only the command may see
    it.
    """

    folder: Path
    environment: dict[str, str]
    encoding: str
    stdout: str
    file: Path


def run(work: Callable[[], None], place: CommandSurroundings) -> CommandEnd:
    """Run `work`, which may end by SystemExit."""
    pipes = [_open_large_pipe() for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        _become_command(work, place, [writer for _, writer in pipes])
    for _, writer in pipes:
        os.close(writer)
    code = _wait_for_end(pid)
    return CommandEnd(code, *(_read_output(reader, place.encoding) for reader, _ in pipes))


def _open_large_pipe() -> tuple[int, int]:
    """Return a pipe that is large enough to hold all output until the process ends."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, ROOM)
    os.set_blocking(reader, False)
    return reader, writer


def _read_output(reader: int, encoding: str) -> str:
    with os.fdopen(reader, "rb") as file:
        return (file.read() or b"").decode(encoding, "replace")


def _wait_for_end(pid: int) -> int | None:
    descriptor = os.pidfd_open(pid)
    try:
        ended, _, _ = select.select([descriptor], [], [], LIMIT_S)
    finally:
        os.close(descriptor)
    with suppress(ProcessLookupError):
        # it leads a group, which may have more in it
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become_command(work: Callable[[], None], place: CommandSurroundings, streams: list[int]) -> None:
    """Become the process of the command, and end with it."""
    code = 1
    out, err, file = streams
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        null = os.open(os.devnull, os.O_RDONLY)
        for source, descriptor in (
            (null, 0),
            (os.open(place.stdout, os.O_WRONLY) if place.stdout else out, 1),
            (err, 2),
        ):
            os.dup2(source, descriptor)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), place.encoding, "strict")
        sys.stderr = io.TextIOWrapper(
            os.fdopen(2, "wb", 0, closefd=False), place.encoding, "backslashreplace", write_through=True
        )
        os.environ.clear()
        os.environ.update(place.environment)
        os.chdir(place.folder)
        try:
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        sys.stdout.flush()
        os.write(file, place.file.read_bytes())
    except BaseException:  # noqa: BLE001 - a test must be told of it
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)
