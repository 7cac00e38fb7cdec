"""A program that starts another one and adopts all its descendants. It ends when none of them is left.

    python child_supervisor.py DESCRIPTOR FOLDER COMMAND…

The descriptor is a socket to the process that wants to run the command. The supervisor sends one line of JSON: `pid` of
the program and `supervisor`, its own number, or `errno` and `step` if the program cannot be started. At the end it
sends another line: `status`, as `waitpid` returns it, and `left`, the numbers of processes that could not be ended. It
takes lines `end SECONDS`, which end the program and all its descendants, and does the same when the socket is closed,
also because the other process was killed. Its own exit status is that of the program.

`supervisor_server.py` starts supervisors without a new interpreter. This module imports the standard library only, so
that it starts fast, and it runs without site packages.
"""

import ctypes
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

assert sys.platform != "win32"
PR_SET_CHILD_SUBREAPER = 36
LEFT_GRACE_S = 1.0
"""Time for descendants to end after SIGTERM, when the program has ended by itself or nobody wants it any more."""
HANG_UP_S = 0.5
"""Time after which a program that ignores SIGTERM gets SIGHUP, the signal of a closed terminal. Shells need it."""
KILL_LIMIT_S = 10.0
"""Maximum wait after SIGKILL. A process that waits for a disk or a driver does not end before that answers."""
KILL_ROUND_S = 0.02
IDLE_S = 3600.0
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGPIPE)
"""Signals that the terminal sends to the program, too."""
CHANGED_SIGNALS = (*FORWARDED, *IGNORED, signal.SIGCHLD, signal.SIGXFSZ, signal.SIGWINCH)
"""Signals whose handling a program must not inherit from a supervisor."""
EXIT_FAILED = 127


class ChildSupervisor:
    """The program and all its descendants."""

    def __init__(self, control: socket.socket, wake_up: int) -> None:
        self._control = control
        self._wake_up = wake_up
        self._parent = os.getppid()
        self._pid = 0
        self._status: int | None = None
        self._requests = b""
        self._is_wanted = True
        self._hang_up_at = self._kill_at = float("inf")

    def start(self, start: "Callable[[], int]") -> int:
        """Start the program by a function that returns its number, and return that. Raises OSError."""
        self._pid = start()
        return self._pid

    def forward(self, number: int) -> None:
        """Send a signal to the program."""
        if self._status is None:
            send(self._pid, number)

    def supervise(self) -> int:
        """Wait until the program and all its descendants have ended. Return the status of the program."""
        while self._status is None:
            self._wait(min(self._hang_up_at, self._kill_at) - time.monotonic())
            if self._reap_children() and self._status is None:
                self._act_in_time()
        self._end_descendants(min(self._kill_at, time.monotonic() + LEFT_GRACE_S))
        return self._status

    def _wait(self, limit_s: float) -> None:
        """Wait for a signal or a request, and read it."""
        sources = [self._wake_up, self._control] if self._is_wanted else [self._wake_up]
        ready = select.select(sources, (), (), max(0.0, min(limit_s, IDLE_S)))[0]
        if self._wake_up in ready:
            os.read(self._wake_up, 4096)
        if self._control in ready:
            self._read_requests()
        if self._is_wanted and os.getppid() != self._parent:
            # a copy of the other process, such as a worker that it forked, may hold the socket open
            self._is_wanted = False
            self._begin_end(LEFT_GRACE_S)

    def _read_requests(self) -> None:
        try:
            data = self._control.recv(4096)
        except OSError:
            data = b""
        if not data:
            self._is_wanted = False
            self._begin_end(LEFT_GRACE_S)
        *lines, self._requests = (self._requests + data).split(b"\n")
        for line in lines:
            word, _, seconds = line.partition(b" ")
            if word == b"end":
                self._begin_end(float(seconds))

    def _begin_end(self, grace_s: float) -> None:
        now = time.monotonic()
        self._kill_at = min(self._kill_at, now + grace_s)
        if grace_s > 0:
            self._hang_up_at = min(self._hang_up_at, now + HANG_UP_S)
            self.forward(signal.SIGTERM)
            # a stopped process handles SIGTERM only after SIGCONT
            self.forward(signal.SIGCONT)

    def _act_in_time(self) -> None:
        now = time.monotonic()
        if now >= self._kill_at:
            self._kill_descendants()
        elif now >= self._hang_up_at:
            self._hang_up_at = float("inf")
            self.forward(signal.SIGHUP)

    def _end_descendants(self, deadline: float) -> None:
        """End what the program left: SIGTERM first, and SIGKILL at the deadline."""
        if not self._reap_children():
            return
        for pid in find_descendants():
            send(pid, signal.SIGTERM)
            send(pid, signal.SIGCONT)
        while self._reap_children() and time.monotonic() < deadline:
            self._wait(min(deadline, self._kill_at) - time.monotonic())
            deadline = min(deadline, self._kill_at)
        self._kill_descendants()

    def _kill_descendants(self) -> None:
        """Kill everything, also what is started meanwhile."""
        limit = time.monotonic() + KILL_LIMIT_S
        while self._reap_children() and time.monotonic() < limit:
            for pid in find_descendants():
                send(pid, signal.SIGKILL)
            self._wait(KILL_ROUND_S)

    def find_left(self) -> "list[int]":
        """Return the numbers of descendants that still run."""
        return find_descendants() if self._reap_children() else []

    def _reap_children(self) -> bool:
        """Remove the children that have ended. Return whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid != self._pid:
                continue
            if os.WIFSTOPPED(status):
                # there is no shell that could continue it
                send(pid, signal.SIGCONT)
            else:
                self._status = status


def start_program(command: "Sequence[str]", environment: "Mapping[str, str]") -> int:
    """Start a program with the usual handling of signals, and return its number. Raises OSError."""
    return os.posix_spawnp(command[0], list(command), environment, setsigdef=CHANGED_SIGNALS, setsigmask=())


def given_environment() -> "dict[str, str]":
    """Return the environment that this process was given. Python sets LC_CTYPE at its start if there is no locale."""
    environment = dict(os.environ)
    with suppress(OSError):
        with open("/proc/self/environ", "rb") as file:
            names = {entry.partition(b"=")[0] for entry in file.read().split(b"\0")}
        if b"LC_CTYPE" not in names:
            environment.pop("LC_CTYPE", None)
    return environment


def send(pid: int, number: int) -> None:
    """Send a signal. A process that has ended, or that belongs to another user, is left alone."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def find_descendants() -> "list[int]":
    """Return the numbers of all descendants of this process."""
    children: dict[int, list[int]] = {}
    for pid, parent in _read_proc() if os.path.isdir("/proc/self") else _read_ps():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _read_proc() -> "list[tuple[int, int]]":
    rows: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", errors="replace") as file:
                    # the program name is in parentheses and may contain any character
                    rows.append((int(name), int(file.read().rpartition(")")[2].split()[1])))
            except (OSError, IndexError):
                continue
    return rows


def _read_ps() -> "list[tuple[int, int]]":
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    return [(int(words[0]), int(words[1])) for words in map(str.split, listed.splitlines()) if len(words) == 2]


def end_like(status: int) -> "NoReturn":
    """End this process as another one ended."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.set_wakeup_fd(-1)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def ignore(_number: int, _frame: object) -> None:
    """Do nothing: the signal only wakes up this process."""


def supervise(control: socket.socket, folder: str, start: "Callable[[], int]") -> "NoReturn":
    """Start a program, stay until none of its processes is left, and end like it.

    Args:
        control: The socket to the process that wants to run the program.
        folder: The folder in which the program runs.
        start: Starts the program, and returns its number. Raises OSError.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    supervisor = ChildSupervisor(control, reader)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, ignore)
    step = "folder"
    try:
        os.chdir(folder)
        step = "program"
        pid = supervisor.start(start)
    except OSError as error:
        report(control, {"errno": error.errno or errno.EIO, "step": step})
        os._exit(EXIT_FAILED)

    def forward(number: int, _: object) -> None:
        supervisor.forward(number)

    for number in FORWARDED:
        signal.signal(number, forward)
    report(control, {"pid": pid, "supervisor": os.getpid()})
    status = supervisor.supervise()
    report(control, {"status": status, "left": supervisor.find_left()})
    end_like(status)


def report(control: socket.socket, fields: "Mapping[str, object]") -> None:
    """Tell the other process something in a line of JSON. It may have been killed, and `supervise` sees that."""
    with suppress(OSError):
        control.sendall(json.dumps(fields).encode() + b"\n")


def main() -> None:
    """Start the command, and stay until none of its processes is left."""
    control, folder, command = socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:]
    control.set_inheritable(False)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    supervise(control, folder, lambda: start_program(command, given_environment()))


if __name__ == "__main__":
    main()
