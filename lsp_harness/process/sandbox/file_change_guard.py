"""A guard that changes modes, owners and times of files for a program under Landlock, but only in its own folders.

Landlock has no rules for `chmod`, `chown` and `utime`, and a filter of system calls sees no path. So the filter sends
these calls to this process, which opens the file itself, looks where it is, and makes the change by its own descriptor.
Nothing that the program does meanwhile can turn it to another file. Outside of the folders the call fails with EPERM.

It belongs to `landlock_launcher.py`, beside which it lies.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import os
import select
import signal
import stat
import struct
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from lsp_harness.process.sandbox import call_filter
    from lsp_harness.process.sandbox import kernel_calls as kernel
else:
    package = __package__ + "." if __package__ else ""
    call_filter = importlib.import_module(package + "call_filter")
    kernel = importlib.import_module(package + "kernel_calls")

assert sys.platform == "linux"

# the module `socket` takes long to import, and later this Python may not be readable any more
sockets: Any = importlib.import_module("_socket")
RECEIVE, SEND, IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
"""Requests of `ioctl` (linux/seccomp.h)."""
NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""`struct seccomp_notif`: a number, the thread, flags, the system call, the processor, an address, the arguments."""
RESPONSE = struct.Struct("=QqiI")
AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH = -100, 0x100, 0x1000
UTIMENSAT, FCHOWNAT = (280, 88), (260, 54)
MAX_PATH_BYTES = 4096
SECOND_NS, MICROSECOND_NS = 1_000_000_000, 1_000
UTIME_NOW = (1 << 30) - 1
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MAX_KILL_ROUNDS = 200
KILL_ROUND_S = 0.02
"""Maximum of rounds in which the descendants are killed, and the time for one. New ones may start meanwhile."""
NO_GUARD = b"-"
"""Message of the program that it has no guard of its own."""

EXIT_UNAVAILABLE = 126

PLACES = {
    "chmod": (-1, 0, -1),
    "fchmod": (0, -1, -1),
    "fchmodat": (0, 1, -1),
    "fchmodat2": (0, 1, 3),
    "chown": (-1, 0, -1),
    "lchown": (-1, 0, -1),
    "fchown": (0, -1, -1),
    "fchownat": (0, 1, 4),
    "utime": (-1, 0, -1),
    "utimes": (-1, 0, -1),
    "futimesat": (0, 1, -1),
    "utimensat": (0, 1, 3),
}
"""System call → the arguments with the descriptor of a folder or of the file itself, with the path, and with flags. The
values to set follow the file. -1 is none."""


class FileChangeGuard:
    """The changes of files of a program and its descendants.

    Args:
        listener: The descriptor from which the kernel's questions are read.
        folders: The folders in which files may be changed.
    """

    def __init__(self, listener: int, folders: Sequence[str]) -> None:
        self._listener = listener
        self._folders = [os.path.realpath(folder) for folder in folders]
        self._names = {numbers[_find_column()]: name for name, numbers in call_filter.CHANGES_OF_FILES.items()}

    def answer(self) -> None:
        """Answer one question of the kernel. The caller of the system call may have ended meanwhile."""
        buffer = ctypes.create_string_buffer(NOTIFICATION.size)
        if kernel.libc.ioctl(self._listener, ctypes.c_ulong(RECEIVE), buffer):
            return
        number, thread, _, call, _, _, *arguments = NOTIFICATION.unpack(buffer.raw)
        try:
            self._change_file(self._names[call], number, thread, arguments)
            error = 0
        except OSError as failure:
            error = failure.errno or errno.EPERM
        except Exception:  # noqa: BLE001 - a program that sends nonsense must not end the guard
            error = errno.EPERM
        kernel.libc.ioctl(self._listener, ctypes.c_ulong(SEND), RESPONSE.pack(number, 0, -error, 0))

    def _change_file(self, name: str, number: int, thread: int, arguments: Sequence[int]) -> None:
        folder, path, flags = PLACES[name]
        options = arguments[flags] & 0xFFFFFFFF if flags >= 0 else 0
        follows = name != "lchown" and not options & AT_SYMLINK_NOFOLLOW
        base = _make_signed(arguments[folder]) if folder >= 0 else AT_FDCWD
        # `utimensat` and `futimesat` without a path are about the descriptor itself
        text = _read_path(thread, arguments[path]) if path >= 0 and arguments[path] else None
        if text == b"" and not options & AT_EMPTY_PATH:
            raise OSError(errno.ENOENT, "the path is empty")
        opened = _open_file(thread, base, text, follows)
        try:
            make = self._prepare(name, opened, thread, arguments)
            # the thread may have ended before its memory was read, and another one may have its number
            if kernel.libc.ioctl(self._listener, ctypes.c_ulong(IS_VALID), struct.pack("=Q", number)):
                raise OSError(errno.EPERM, "the program has ended")
            self._check(opened)
            make()
        finally:
            os.close(opened)

    def _check(self, opened: int) -> None:
        real = os.readlink(f"/proc/self/fd/{opened}")
        if not any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in self._folders):
            raise OSError(errno.EPERM, "the file is outside of the allowed folders")

    def _prepare(self, name: str, opened: int, thread: int, arguments: Sequence[int]) -> Callable[[], None]:
        """Read the wanted values, and return a function that sets them."""
        if "chmod" in name:
            mode = arguments[max(PLACES[name][:2]) + 1] & 0o7777
            if stat.S_ISLNK(os.fstat(opened).st_mode):
                raise OSError(errno.EOPNOTSUPP, "the file is a link, and a link has no mode")
            return lambda: os.chmod(f"/proc/self/fd/{opened}", mode)
        if "chown" in name:
            first = max(PLACES[name][:2]) + 1
            owner, group = (ctypes.c_uint(value & 0xFFFFFFFF) for value in arguments[first : first + 2])
            return lambda: _call(FCHOWNAT[_find_column()], opened, b"", owner, group, AT_EMPTY_PATH)
        times = _read_times(name, thread, arguments[max(PLACES[name][:2]) + 1])
        return lambda: _call(UTIMENSAT[_find_column()], opened, b"", times, AT_EMPTY_PATH)


def _find_column() -> int:
    return call_filter.PROCESSORS[os.uname().machine][1]


def _make_signed(value: int) -> int:
    return ctypes.c_int(value & 0xFFFFFFFF).value


def _call(number: int, *arguments: object) -> None:
    kernel.check(kernel.libc.syscall(ctypes.c_long(number), *arguments), "the file cannot be changed")


def _read_memory(thread: int, address: int, size: int) -> bytes:
    memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(memory, size, address)
    finally:
        os.close(memory)


def _read_path(thread: int, address: int) -> bytes:
    """Return the path at an address. The next page may not exist, so it is read in pieces that end with a page."""
    text = b""
    while len(text) < MAX_PATH_BYTES:
        piece = _read_memory(thread, address + len(text), MAX_PATH_BYTES - (address + len(text)) % MAX_PATH_BYTES)
        end = piece.find(b"\0")
        if end >= 0:
            return text + piece[:end]
        if not piece:
            raise OSError(errno.EFAULT, "the path cannot be read")
        text += piece
    raise OSError(errno.ENAMETOOLONG, "the path is too long")


def _read_times(name: str, thread: int, address: int) -> bytes:
    """Return the times as two `struct timespec`."""
    if not address:
        return struct.pack("=4q", 0, UTIME_NOW, 0, UTIME_NOW)
    if name == "utime":
        seconds = struct.unpack("=2q", _read_memory(thread, address, 16))
        return struct.pack("=4q", seconds[0], 0, seconds[1], 0)
    first, first_rest, second, second_rest = struct.unpack("=4q", _read_memory(thread, address, 32))
    factor = 1 if name == "utimensat" else MICROSECOND_NS
    return struct.pack("=4q", first, first_rest * factor, second, second_rest * factor)


def _open_file(thread: int, base: int, text: bytes | None, follows: bool) -> int:
    """Return a descriptor of the file that a thread names. It gives no right to read or to write."""
    flags = os.O_PATH | os.O_CLOEXEC
    own = f"/proc/{thread}"
    if not text:
        return os.open(f"{own}/cwd" if base == AT_FDCWD else f"{own}/fd/{base}", flags)
    path = os.fsdecode(text)
    # these names mean another process in this one
    for alias, place in (("/proc/self/", own), ("/proc/thread-self/", own), ("/dev/fd/", f"{own}/fd")):
        if path.startswith(alias):
            path = f"{place}/{path[len(alias) :]}"
    if not os.path.samestat(os.stat(f"{own}/root"), os.stat("/")):
        raise OSError(errno.EPERM, "another root folder")
    flags |= 0 if follows else os.O_NOFOLLOW
    if path.startswith("/"):
        return os.open(path, flags)
    folder = os.open(f"{own}/cwd" if base == AT_FDCWD else f"{own}/fd/{base}", flags & ~os.O_NOFOLLOW)
    try:
        return os.open(path, flags, dir_fd=folder)
    finally:
        os.close(folder)


def start_guarded(folders: Sequence[str], start: Callable[[], NoReturn]) -> int:
    """Start a program in a child with the filter of Landlock, and answer until it ends. Return its exit status.

    Nothing of the program is left afterwards, also if the process that started this one is killed. If a signal ends the
    program, the same signal ends this process.

    Args:
        folders: The folders in which modes, owners and times of files may be changed.
        start: Becomes the program. It may raise OSError.

    Raises:
        OSError: The filter cannot be set.
    """
    ours, theirs = sockets.socketpair(sockets.AF_UNIX, sockets.SOCK_STREAM)
    # the program has the same user, and must not take over this process; it can be traced from its own start on
    kernel.libc.prctl(kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    kernel.libc.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = os.getppid()
    child = os.fork()
    if child == 0:
        ours.close()
        _become_program(theirs, start)
    theirs.close()

    def forward(number: int, _: object) -> None:
        if os.getppid() == parent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
            return
        # nobody is left who could end what ignores a signal or has left the group
        _kill_descendants()
        os._exit(128 + number)

    for number in FORWARDED:
        signal.signal(number, forward)
    problem, passed, _, _ = ours.recvmsg(MAX_PATH_BYTES, sockets.CMSG_SPACE(struct.calcsize("i")))
    ours.close()
    if not passed:
        _, status = os.waitpid(child, 0)
        if problem != NO_GUARD:
            raise OSError(errno.EPERM, problem.decode("utf-8", "replace") or "the program cannot be started")
        return _leave(status)
    listener = struct.unpack("i", passed[0][2][: struct.calcsize("i")])[0]
    return _leave(_serve(FileChangeGuard(listener, folders), listener, child))


def _become_program(theirs: Any, start: Callable[[], NoReturn]) -> NoReturn:
    """Set the filter, pass its questions to the parent, and become the program."""
    try:
        kernel.libc.prctl(kernel.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        listener = call_filter.set_asking_filter(call_filter.make_filter((), hides_processes=False, asks=True))
        if listener >= 0:
            theirs.sendmsg([b"+"], [(sockets.SOL_SOCKET, sockets.SCM_RIGHTS, struct.pack("i", listener))])
            os.close(listener)
        else:
            # a guard of a sandbox around this one answers already
            call_filter.set_filter(call_filter.make_filter((), hides_processes=False))
            theirs.send(NO_GUARD)
        theirs.close()
    except OSError as error:
        theirs.send((error.strerror or str(error)).encode())
        os._exit(EXIT_UNAVAILABLE)
    try:
        start()
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}: {error.filename}\n")
        sys.stderr.flush()
    finally:
        os._exit(EXIT_UNAVAILABLE)


def _serve(guard: FileChangeGuard, listener: int, child: int) -> int:
    """Answer until a child ends, and return its status."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (listener, ended):
        poll.register(descriptor, select.POLLIN)
    while True:
        events = dict(poll.poll())
        if events.get(listener, 0) & select.POLLIN:
            guard.answer()
        elif listener in events:
            # no process with the filter is left
            poll.unregister(listener)
        elif ended in events:
            status = os.waitpid(child, 0)[1]
            _kill_descendants()
            return status


def _kill_descendants() -> None:
    """Kill everything that the program left, also in sessions of its own. This process has adopted it."""
    for _ in range(MAX_KILL_ROUNDS):
        for pid in _find_descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select((), (), (), KILL_ROUND_S)


def _find_descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            # the name of the program is in parentheses and may contain any character
            children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def _leave(status: int) -> int:
    """Return the exit status of a program, or end by the signal that ended it."""
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
