"""A program that starts supervisors as copies of itself, so that no interpreter has to start for each command.

It is started with a Unix socket, and ends when the other end of that is closed. Each message on the socket is one byte
with three descriptors: the control socket of a new supervisor (`child_supervisor.py`), and the standard input and
output of its program. The copy reads its request from the control socket, one line of JSON.

If the command is one of our own programs that prepare a sandbox, it runs in another copy, so that no interpreter starts
for it either. This module and those that it imports use the standard library only: it runs without site packages.
"""

import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NoReturn, TypedDict

assert sys.platform != "win32"

from lsp_harness.process import child_supervisor
from lsp_harness.process.kernel_orders import adopt_orphans, end_with_parent
from lsp_harness.process.priority import lower_priority

DESCRIPTORS = 3
"""Descriptors of a message. They are those of a program, too: input, output and errors."""
REQUEST_PIECE_BYTES = 65_536
LAUNCHERS = ("namespace_launcher", "landlock_launcher")
"""Modules of `process/sandbox` that are programs."""
LAUNCHER_OPTIONS = ("-I", "-S")
MAX_DESCRIPTOR = 4096
EXIT_FAILED = 127


class SupervisorRequest(TypedDict):
    """A program that a supervisor starts.

    Attributes:
        command: The program and its arguments.
        folder: The folder in which it starts.
        environment: All environment variables of the program.
    """

    command: Sequence[str]
    folder: str
    environment: Mapping[str, str]


def serve(descriptor: int, parent: int) -> NoReturn:
    """Start a supervisor for each message on a socket, until its other end is closed.

    Args:
        descriptor: The descriptor of the socket for requests.
        parent: The number of the process that has the other end.
    """
    requests = socket.socket(fileno=descriptor)
    requests.set_inheritable(False)
    _end_with(parent)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # the kernel then removes copies that have ended
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = os.getpid()
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1, DESCRIPTORS)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            _supervise(requests, descriptors, server)
        for number in descriptors:
            os.close(number)
        for name in LAUNCHERS:
            # while the first command runs, and not before
            _load_launcher(name)


def _supervise(requests: socket.socket, descriptors: Sequence[int], server: int) -> NoReturn:
    """Supervise one program, and end this copy of the server."""
    try:
        requests.close()
        os.setsid()
        lower_priority()
        _end_with(server)
        adopt_orphans()
        control = socket.socket(fileno=descriptors[0])
        control.set_inheritable(False)
        for target, source in enumerate((descriptors[1], descriptors[2], descriptors[2])):
            os.dup2(source, target)
        for source in descriptors[1:]:
            os.close(source)
        request = _read_request(control)
        child_supervisor.supervise(control, request["folder"], lambda: _start(request))
    except Exception as error:  # noqa: BLE001 - the output of the command is the only place for this error
        os.write(2, f"the supervisor of a command failed: {error!r}\n".encode())
    finally:
        os._exit(EXIT_FAILED)


def _read_request(control: socket.socket) -> SupervisorRequest:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = control.recv(REQUEST_PIECE_BYTES)
        if not piece:
            # the process that wanted to run the command has ended
            os._exit(EXIT_FAILED)
        line += piece
    return json.loads(line)


def _start(request: SupervisorRequest) -> int:
    """Start the command of a request, and return its number. Raises OSError."""
    command = request["command"]
    launcher = _find_launcher(command)
    if not launcher:
        return child_supervisor.start_program(command, request["environment"])
    pid = os.fork()
    if pid == 0:
        _become_launcher(launcher, request)
    return pid


def _find_launcher(command: Sequence[str]) -> str:
    """Return the module of our own program that a command starts in an interpreter like this; empty for others."""
    start = [sys.executable, *LAUNCHER_OPTIONS]
    if list(command[: len(start)]) != start:
        return ""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox")
    return next((name for name in LAUNCHERS if os.path.join(folder, f"{name}.py") == command[len(start)]), "")


def _load_launcher(name: str) -> ModuleType:
    return importlib.import_module(f"lsp_harness.process.sandbox.{name}")


def _become_launcher(name: str, request: SupervisorRequest) -> NoReturn:
    """Do in this copy what a new interpreter with this program would do."""
    status = EXIT_FAILED
    try:
        signal.set_wakeup_fd(-1)
        for number in child_supervisor.CHANGED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.closerange(DESCRIPTORS, MAX_DESCRIPTOR)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = list(request["command"][1 + len(LAUNCHER_OPTIONS) :])
        status = _load_launcher(name).main()
        sys.stderr.flush()
    except Exception as error:  # noqa: BLE001 - the output of the command is the only place for this error
        os.write(2, f"the sandbox of a command failed: {error!r}\n".encode())
    finally:
        os._exit(status if status >= 0 else 128 - status)


def _end_with(parent: int) -> None:
    """End this process when its parent ends."""
    end_with_parent(parent, lambda: os._exit(EXIT_FAILED))
