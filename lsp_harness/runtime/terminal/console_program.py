"""A program in a pseudo-console of Windows (ConPTY), by the package `pywinpty`.

The pseudo-console has no descriptor that the event loop could watch: one thread reads it, and another one writes. Its
program is told to end by Ctrl-C; after the grace time, the processes below it are killed.
"""

import asyncio
import importlib
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.extras import need_extra
from lsp_harness.process.process_group import kill_leader_group
from lsp_harness.runtime.agent_errors import SpawnFailed

POLL_S = 0.02
INTERRUPT = "\x03"
MAX_INPUT_BYTES = 1_000_000
"""Number of bytes that may wait for a program that does not read."""


class ConsoleProgram:
    """A program in a pseudo-console.

    Attributes:
        pid: The number of the program.
        program_pid: The same number: there is no supervisor.
    """

    def __init__(self, console: Any) -> None:
        """Take charge of a program. Use `start` to start one."""
        self.pid = int(console.pid)
        self.program_pid = self.pid
        self._console = console
        self._loop = asyncio.get_running_loop()
        self._killing: asyncio.TimerHandle | None = None

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int, rows: int
    ) -> "ConsoleProgram":
        """Start a program. See `start_program`. Raises SpawnFailed and ExtraMissing."""
        # it has no types, and other systems have no such package
        with need_extra("runtime"):
            winpty = importlib.import_module("winpty")
        program = shutil.which(argv[0], path=env.get("PATH", os.defpath)) or argv[0]
        variables = "\0".join(f"{name}={value}" for name, value in env.items()) + "\0"
        try:
            console = winpty.PTY(columns, rows)
            console.spawn(program, cmdline=f" {subprocess.list2cmdline(argv[1:])}", cwd=str(cwd), env=variables)
        except (OSError, winpty.WinptyError) as error:
            raise SpawnFailed(f"{argv[0]} cannot be started: {error}") from error
        return cls(console)

    def open_input(self) -> "ConsoleInput":
        """Return the input of the console."""
        return ConsoleInput(self._console.write)

    def open_output(self, receive: Callable[[bytes], None]) -> "ConsoleOutput":
        """Begin to read the output of the console, and give it to a function."""
        return ConsoleOutput(self._read, receive)

    def poll(self) -> int | None:
        """Return the exit status of the program, or None as long as it runs."""
        return None if self._console.isalive() else self._console.get_exitstatus() or 0

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit status. Raises `subprocess.TimeoutExpired`."""
        limit = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired("the program", timeout)
            time.sleep(POLL_S)
        return code

    def request_end(self, grace_s: float) -> None:
        """Press Ctrl-C, and kill the program and all processes below it after some seconds."""
        if grace_s <= 0:
            kill_leader_group(self.pid)
            return
        with suppress(Exception):
            # the library raises errors of its own
            self._console.write(INTERRUPT)
        if not self._killing:
            self._killing = self._loop.call_later(grace_s, kill_leader_group, self.pid)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the console. The program gets an event of its window."""
        with suppress(Exception):
            self._console.set_size(columns, rows)

    def close(self) -> None:
        """End all processes that are left. The console is closed when nobody refers to it."""
        if self._killing:
            self._killing.cancel()
        if self.poll() is None:
            kill_leader_group(self.pid)
        with suppress(Exception):
            self._console.cancel_io()

    def _read(self) -> bytes:
        """Wait for output and return it. It is empty at the end."""
        try:
            while not (text := self._console.read(blocking=True)):
                if self._console.iseof():
                    return b""
            return str(text).encode("utf-8", "surrogatepass")
        except Exception:  # noqa: BLE001 - the library raises an error of its own at the end
            return b""


class ConsoleInput:
    """The input of a console, which a thread writes.

    Args:
        write: Writes a text, and waits until it is read.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._waiting = 0
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="console_input", daemon=True).start()

    def add(self, data: bytes) -> bool:
        """Type bytes. Return whether they were taken: not all of them are if too many wait already."""
        if self._waiting + len(data) > MAX_INPUT_BYTES:
            return False
        self._waiting += len(data)
        self._queue.put(data)
        return True

    def close(self) -> None:
        """Write nothing more."""
        self._waiting = MAX_INPUT_BYTES
        self._queue.put(None)

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            with suppress(Exception):
                # the program may have ended
                self._write(data.decode("utf-8", "replace"))
            self._waiting = max(0, self._waiting - len(data))


class ConsoleOutput:
    """The output of a console, which a thread reads.

    Attributes:
        ended: Is set when all output was read, or nobody reads it any more.

    Args:
        read: Waits for output and returns it; empty at the end.
        receive: Receives each piece of output in the event loop.
    """

    def __init__(self, read: Callable[[], bytes], receive: Callable[[bytes], None]) -> None:
        self._read = read
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._may_read = threading.Event()
        self._may_read.set()
        self.ended = asyncio.Event()
        threading.Thread(target=self._run, name="console_output", daemon=True).start()

    def close(self) -> None:
        """Stop reading the output of the program."""
        self.ended.set()
        self._may_read.set()

    def pause(self) -> None:
        """Stop reading for a while. A program that prints more than the system keeps has to wait."""
        self._may_read.clear()

    def resume(self) -> None:
        """Go on reading after a pause."""
        self._may_read.set()

    def _run(self) -> None:
        # the loop may be closed
        with suppress(RuntimeError):
            while not self.ended.is_set():
                self._may_read.wait()
                piece = self._read()
                self._loop.call_soon_threadsafe(self._take, piece)
                if not piece:
                    return

    def _take(self, piece: bytes) -> None:
        if self.ended.is_set():
            return
        if piece:
            self._receive(piece)
        else:
            self.ended.set()
