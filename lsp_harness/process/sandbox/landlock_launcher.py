"""A program that confines itself with Landlock and a filter of system calls, and then becomes another program.

    python landlock_launcher.py COUNT '{"folder": …, "writable": […], "readable": […], "listed": […]}' COMMAND…

Landlock knows the content of files and TCP ports. The filter (`call_filter.py`) refuses the rest: sockets, changes of
other processes and attributes of files. Modes, owners and times are changed by `file_change_guard.py`, in the folders
in which the program may write.

It imports the standard library only, so that it starts fast, and it runs without site packages.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import stat
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TypedDict

    from lsp_harness.process.sandbox import call_filter
    from lsp_harness.process.sandbox import file_change_guard as guard
    from lsp_harness.process.sandbox import kernel_calls as kernel

    class LandlockRules(TypedDict):
        """The rules of a program.

        Attributes:
            folder: The folder in which it starts.
            writable: The folders in which it may write.
            readable: The files and folders that it may read.
            listed: The folders of which it may read the names.
        """

        folder: str
        writable: Sequence[str]
        readable: Sequence[str]
        listed: Sequence[str]
else:
    if __name__ == "__main__":
        # `python -I` leaves out the folder of the program
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    package = __package__ + "." if __package__ else ""
    call_filter = importlib.import_module(package + "call_filter")
    guard = importlib.import_module(package + "file_change_guard")
    kernel = importlib.import_module(package + "kernel_calls")

assert sys.platform == "linux"

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on all processors (Documentation/userspace-api/landlock.rst of Linux)."""
RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ_RIGHTS = EXECUTE | READ_FILE | READ_FOLDER
MAKE_DEVICE = 1 << 6 | 1 << 11
"""Making devices for characters and blocks: by one of its own, a program of root reads and writes a whole disk."""
ABI_1_RIGHTS = (1 << 13) - 1
ABI_RIGHTS = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEVICE}
"""Version of the interface → the right that it adds."""
TCP_RIGHTS = 3
"""Binding and connecting TCP sockets, from version 4 on."""
TCP_ABI = 4
SCOPES = 3
"""Abstract Unix sockets and signals to processes outside, from version 6 on."""
SCOPE_ABI = 6
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
KEPT_CAPABILITIES = (1, 3, 4, 6, 7)
"""Capabilities of a program of root: about files, which the rules bound, and about becoming another user."""
EXIT_UNAVAILABLE = 126


class RulesetAttributes(ctypes.Structure):
    """The rights that a set of rules handles (`struct landlock_ruleset_attr`)."""

    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class PathAttributes(ctypes.Structure):
    """The rights below a path (`struct landlock_path_beneath_attr`)."""

    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def find_version() -> int:
    """Return the version of the interface of this kernel, or 0 without Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        return _call(libc, CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    except OSError:
        return 0


def confine(rules: LandlockRules) -> None:
    """Confine this process and its descendants. Raise OSError if the kernel cannot do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi = _call(libc, CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    rights = ABI_1_RIGHTS
    for version, right in ABI_RIGHTS.items():
        rights |= right if abi >= version else 0
    attributes = RulesetAttributes(rights, TCP_RIGHTS if abi >= TCP_ABI else 0, SCOPES if abi >= SCOPE_ABI else 0)
    # old kernels refuse a structure that is longer than the one they know
    size = 24 if abi >= SCOPE_ABI else 16 if abi >= TCP_ABI else 8
    ruleset = _call(libc, CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    for paths, allowed in (
        (rules["readable"], READ_RIGHTS),
        (rules["listed"], READ_FOLDER),
        (rules["writable"], rights & ~MAKE_DEVICE),
        (DEVICES, FILE_RIGHTS & rights),
    ):
        for path in paths:
            _allow(libc, ruleset, path, allowed)
    kernel.drop_rights(KEPT_CAPABILITIES)
    _call(libc, RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def stand_alone() -> None:
    """Keep this process and its descendants from signals to the process that started it and from tracing it.

    The guard must stay: it ends what the program leaves. Older kernels have no such rule.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if find_version() >= SCOPE_ABI:
        attributes = RulesetAttributes(0, 0, SCOPES)
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        ruleset = _call(libc, CREATE_RULESET, ctypes.byref(attributes), size, 0)
        _call(libc, RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # a path that does not exist needs no rule
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= FILE_RIGHTS
        attributes = PathAttributes(rights, descriptor)
        _call(libc, ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(attributes), 0)
    finally:
        os.close(descriptor)


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock does not work: {os.strerror(code)}")
    return int(result)


def main() -> int:
    """Confine this process, and run the command."""
    # one argument can have 128 KiB only, and a folder may have more neighbours than fit there
    count = int(sys.argv[1])
    rules, command = json.loads("".join(sys.argv[2 : 2 + count])), sys.argv[2 + count :]
    try:
        os.chdir(rules["folder"])
        confine(rules)
        if os.uname().machine in call_filter.PROCESSORS:

            def start() -> NoReturn:
                stand_alone()
                os.execvp(command[0], command)

            return guard.start_guarded(rules["writable"], start)
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}: {error.filename or command[0]}\n")
    return EXIT_UNAVAILABLE


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # the end of an interpreter takes as long as the start of a small program
    os._exit(status)
