"""The start of a program in a pseudo-terminal, under a supervisor that adopts and ends all its descendants."""

import asyncio
import errno
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from lsp_harness.extras import need_extra

assert sys.platform != "win32"

from lsp_harness.process import child_supervisor
from lsp_harness.process.priority import lower_priority
from lsp_harness.runtime.agent_errors import AgentError, SpawnFailed
from lsp_harness.runtime.terminal.terminal_streams import ProgramOutput, TerminalInput

START_LIMIT_S = 20.0
"""Maximum time until the supervisor says that the program runs."""
POLL_S = 0.005


class PtyProgram:
    """A program in a pseudo-terminal. The child of this process is its supervisor.

    Attributes:
        pid: The number of the supervisor, of its session and of its process group.
        program_pid: The number of the program.
        descriptor: The side of the terminal that this process reads and writes. It does not block.
    """

    def __init__(self, child: Any, control: socket.socket) -> None:
        """Take charge of a supervisor. Use `start` to start a program."""
        self.pid: int = child.pid
        self.program_pid = 0
        self.descriptor: int = child.fd
        self._child = child
        self._control = control
        self._exit_code: int | None = None
        os.set_blocking(self.descriptor, False)

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int, rows: int
    ) -> "PtyProgram":
        """Start a program.

        Args:
            argv: The command. The first item is found on PATH of `env`.
            cwd: The folder in which it runs.
            env: All environment variables of the program.
            columns: The width of its terminal.
            rows: The height of its terminal.

        Raises:
            SpawnFailed: It cannot be started.
            ExtraMissing: The packages for terminals are not installed.
        """
        # imported when the first agent starts
        with need_extra("runtime"):
            from ptyprocess import PtyProcess  # pyright: ignore[reportMissingTypeStubs]

        ours, theirs = socket.socketpair()
        try:
            theirs.set_inheritable(True)
            command = [sys.executable, "-I", "-S", child_supervisor.__file__, str(theirs.fileno()), str(cwd), *argv]
            # the supervisor changes the folder: an error of that here would be raised in a second copy of this process
            child: Any = cast("Any", PtyProcess).spawn(
                command,
                env=dict(env),
                dimensions=(rows, columns),
                pass_fds=(theirs.fileno(),),
                # what an agent compiles and tests must not slow down the editor
                preexec_fn=lower_priority,
            )
        except OSError as error:
            ours.close()
            raise SpawnFailed(f"{argv[0]} cannot be started: {error.strerror or error}") from error
        finally:
            theirs.close()
        program = cls(child, ours)
        try:
            program.program_pid = await program._wait_for_start(argv[0], cwd)
        except BaseException:
            program.request_end(0.0)
            program.close()
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(program.wait, START_LIMIT_S)
            raise
        return program

    def open_input(self) -> TerminalInput:
        """Return the input of the terminal."""
        return TerminalInput(self.descriptor)

    def open_output(self, receive: Callable[[bytes], None]) -> ProgramOutput:
        """Begin to read the output of the terminal, and give it to a function."""
        return ProgramOutput(self.descriptor, receive)

    def poll(self) -> int | None:
        """Return the exit status of the program, or None as long as it or one of its descendants runs."""
        if self._exit_code is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._exit_code = os.waitstatus_to_exitcode(status)
        return self._exit_code

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit status. Raises `subprocess.TimeoutExpired`."""
        limit = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired("the program", timeout)
            time.sleep(POLL_S)
        return code

    def request_end(self, grace_s: float) -> None:
        """Tell the supervisor to end the program and all its descendants. 0 seconds kills them at once."""
        with suppress(OSError):
            self._control.send(f"end {grace_s:.3f}\n".encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal. The program gets SIGWINCH."""
        with suppress(OSError):
            self._child.setwinsize(rows, columns)

    def close(self) -> None:
        """Close the terminal and the connection to the supervisor, which then ends all processes that are left."""
        self._control.close()
        if not self._child.closed:
            self._child.fileobj.close()
            # the `close` of the library waits, and ends processes by itself
            self._child.closed = True

    async def _wait_for_start(self, name: str, cwd: Path) -> int:
        loop = asyncio.get_running_loop()
        self._control.setblocking(False)
        line = b""
        try:
            async with asyncio.timeout(START_LIMIT_S):
                while b"\n" not in line:
                    part = await loop.sock_recv(self._control, 4096)
                    if not part:
                        raise SpawnFailed(f"{name} cannot be started: its supervisor has ended")
                    line += part
        except TimeoutError as error:
            raise SpawnFailed(f"{name} did not start within {START_LIMIT_S:g} seconds") from error
        # a program that has ended already has a second line
        answer = json.loads(line.splitlines()[0])
        if "pid" in answer:
            return int(answer["pid"])
        raise _start_error(name, cwd, int(answer["errno"]), answer["step"])


def _start_error(name: str, cwd: Path, code: int, step: str) -> AgentError:
    if step == "folder":
        return SpawnFailed(f"The folder {cwd} cannot be used: {os.strerror(code)}.")
    resolution = ""
    if code == errno.ENOENT:
        resolution = "The file is there, but the program that runs it is not: look at its first line."
    elif code in (errno.EACCES, errno.ENOEXEC):
        resolution = "The file must be an executable program for this machine."
    return SpawnFailed(f"{name} cannot be started: {os.strerror(code)}.", resolution)
