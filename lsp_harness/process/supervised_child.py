"""Programs under a supervisor, which this process starts by a server of supervisors."""

import asyncio
import atexit
import errno
import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
SERVER_CODE = (
    "import sys; sys.path.append(sys.argv[1]); from lsp_harness.process.supervisor_server import serve; "
    "serve(int(sys.argv[2]), int(sys.argv[3]))"
)
END_WAIT_S = 1.0
PIECE_BYTES = 65_536
LOST_STATUS = -9
"""The exit status of a program whose supervisor was killed."""


class SupervisedChild:
    """A program and all its descendants, under a supervisor.

    Attributes:
        pid: The number of the supervisor, which leads the session of the program.
        left: The numbers of processes that it could not end. They are known after the end.
        is_reported: Whether the supervisor has said that the program and all its descendants have ended.
    """

    def __init__(self, control: socket.socket) -> None:
        self.pid = 0
        self.left: tuple[int, ...] = ()
        self.is_reported = False
        self._control = control
        self._data = b""
        self._code: int | None = None
        control.setblocking(False)

    async def start(self, command: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        """Start a program, and wait until it runs.

        Args:
            command: The program and its arguments.
            folder: The folder in which it starts.
            environment: All environment variables of the server.

        Raises:
            OSError: The program cannot be started.
            ValueError: The command or the environment has a character that no program can get.
        """
        if any("\0" in text for text in (*command, folder, *environment, *environment.values())):
            # as a start without a supervisor says it
            raise ValueError("embedded null byte")
        loop = asyncio.get_running_loop()
        request = {"command": list(command), "folder": folder, "environment": dict(environment)}
        with suppress(BrokenPipeError, ConnectionResetError):
            # without a supervisor, there is no answer either
            await loop.sock_sendall(self._control, json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = {}
        while not answer:
            piece = await self._receive()
            if not piece:
                raise OSError(errno.EIO, "its supervisor has ended", command[0])
            answer = self._take_line()
        if number := answer.get("errno"):
            raise OSError(number, os.strerror(number), folder if answer.get("step") == "folder" else command[0])
        self.pid = answer["supervisor"]

    async def wait_for_end(self) -> int:
        """Wait until the program and all its descendants have ended, and return the exit status of the program."""
        while self._code is None:
            if not await self._receive():
                self._end()
        assert self._code is not None
        return self._code

    def poll(self) -> int | None:
        """Return the exit status, or None if the supervisor runs."""
        with suppress(BlockingIOError):
            while self._code is None:
                if not self._read():
                    self._end()
        return self._code

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit status. Raises `subprocess.TimeoutExpired`."""
        while (code := self.poll()) is None:
            if not select.select([self._control], (), (), timeout)[0]:
                raise subprocess.TimeoutExpired("the program", timeout)
        return code

    def close(self) -> None:
        """Close the connection. The supervisor then ends what still runs."""
        self._control.close()

    async def _receive(self) -> bytes:
        try:
            piece = await asyncio.get_running_loop().sock_recv(self._control, PIECE_BYTES)
        except ConnectionResetError:
            piece = b""
        self._data += piece
        return piece

    def _read(self) -> bytes:
        try:
            piece = self._control.recv(PIECE_BYTES)
        except ConnectionResetError:
            piece = b""
        self._data += piece
        return piece

    def _take_line(self) -> dict[str, Any]:
        line, separator, rest = self._data.partition(b"\n")
        if not separator:
            return {}
        self._data = rest
        return json.loads(line)

    def _end(self) -> None:
        """Set the exit status by the last line of the supervisor, if it wrote one."""
        answer = self._take_line()
        self.is_reported = "status" in answer
        self.left = tuple(answer.get("left", ()))
        self._code = os.waitstatus_to_exitcode(answer["status"]) if self.is_reported else LOST_STATUS


class SupervisorServer:
    """The server of supervisors (`supervisor_server.py`) for one thread of this process."""

    def __init__(self) -> None:
        """Start the server. It ends with this thread, because the kernel tells it the end of that. Raises OSError."""
        self._owner = os.getpid()
        self._thread = weakref.ref(threading.current_thread())
        self._socket, theirs = socket.socketpair()
        # it needs no variable of this process, and a copy of it may run what nobody has read
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        arguments = (str(PACKAGE_ROOT), str(theirs.fileno()), str(self._owner))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", SERVER_CODE, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except BaseException:
            self._socket.close()
            raise
        finally:
            theirs.close()

    @property
    def is_usable(self) -> bool:
        """Return whether this process started the server in this thread, and the server runs."""
        is_own = self._owner == os.getpid() and self._thread() is threading.current_thread()
        return is_own and self._process.poll() is None

    def start(self, stdin: int, stdout: int) -> SupervisedChild:
        """Return a new child that waits for its command.

        Args:
            stdin: The descriptor of its standard input.
            stdout: The descriptor of its standard output and standard error.

        Raises:
            OSError: The server has ended.
        """
        if sys.platform == "win32":
            raise OSError(errno.ENOSYS, "Windows has no supervisors")
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._socket, [b"s"], [theirs.fileno(), stdin, stdout])
            except BaseException:
                ours.close()
                raise
        return SupervisedChild(ours)

    def close(self) -> None:
        """End the server, if this process started it."""
        self._socket.close()
        if self._owner == os.getpid():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_WAIT_S)


_servers: dict[int, SupervisorServer] = {}
"""Number of a thread → its server."""


def start_child(stdin: int, stdout: int) -> SupervisedChild:
    """Return a new child that waits for its command. The supervisor ends when this thread or process ends.

    Args:
        stdin: The descriptor of its standard input.
        stdout: The descriptor of its standard output and standard error.

    Raises:
        OSError: No server of supervisors can be started.
    """
    number = threading.get_ident()
    if (server := _servers.get(number)) and not server.is_usable:
        server.close()
        del _servers[number]
    if number not in _servers:
        _servers[number] = SupervisorServer()
    return _servers[number].start(stdin, stdout)


@atexit.register
def _close_servers() -> None:
    for server in _servers.values():
        server.close()
