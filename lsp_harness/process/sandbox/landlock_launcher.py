"""A program that confines itself with Landlock and a filter of system calls, and then becomes another program.

    python landlock_launcher.py COUNT '{"folder": …, "writable": […], "readable": […]}' COMMAND…

Landlock knows files and TCP ports. The filter refuses all other sockets: those of UDP, and those by which services of
the user, such as docker, are told what to do.

It imports the standard library only, so that it starts fast, and it runs without site packages.
"""

import ctypes
import json
import os
import platform
import stat
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on all processors (Documentation/userspace-api/landlock.rst of Linux)."""
PR_SET_NO_NEW_PRIVS = 38
RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ_RIGHTS = EXECUTE | READ_FILE | READ_FOLDER
ABI_1_RIGHTS = (1 << 13) - 1
ABI_RIGHTS = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEVICE}
"""Version of the interface → the right that it adds."""
TCP_RIGHTS = 3
"""Binding and connecting TCP sockets, from version 4 on."""
TCP_ABI = 4
SCOPES = 3
"""Abstract Unix sockets and signals to processes outside, from version 6 on."""
SCOPE_ABI = 6
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SOCKET_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Processor → its number for filters (`AUDIT_ARCH_…`), and that of the system call `socket`."""
IO_URING_SETUP = 425
"""A ring opens sockets, too, and its system calls are not filtered."""
X32_CALLS = 0x40000000
"""The first number of the second table of system calls of x86-64."""
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of a filter (linux/filter.h)."""
CALL_OFFSET, PROCESSOR_OFFSET = 0, 4
"""Offsets in `struct seccomp_data`."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1
"""The system call happens, or it fails with EPERM."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
EXIT_UNAVAILABLE = 126


class RulesetAttributes(ctypes.Structure):
    """The rights that a set of rules handles (`struct landlock_ruleset_attr`)."""

    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class PathAttributes(ctypes.Structure):
    """The rights below a path (`struct landlock_path_beneath_attr`)."""

    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


class Instruction(ctypes.Structure):
    """One instruction of a filter (`struct sock_filter`)."""

    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class Program(ctypes.Structure):
    """A filter (`struct sock_fprog`)."""

    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


def confine(writable: "list[str]", readable: "list[str]") -> None:
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
    for paths, allowed in ((readable, READ_RIGHTS & rights), (writable, rights), (DEVICES, FILE_RIGHTS & rights)):
        for path in paths:
            _allow(libc, ruleset, path, allowed)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS failed")
    _call(libc, RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def refuse_sockets() -> None:
    """Refuse new sockets to this process and its descendants, except for connected pairs. Raise OSError if it fails.

    It needs `PR_SET_NO_NEW_PRIVS`, which `confine` sets. On a processor that is not in `SOCKET_CALLS` nothing happens.
    """
    if platform.machine() not in SOCKET_CALLS:
        return
    processor, socket_call = SOCKET_CALLS[platform.machine()]
    # each jump counts the instructions that it leaves out; the last instruction refuses
    code = (
        (LOAD, 0, 0, PROCESSOR_OFFSET),
        (JUMP_EQUAL, 0, 5, processor),
        (LOAD, 0, 0, CALL_OFFSET),
        (JUMP_AT_LEAST, 3, 0, X32_CALLS),
        (JUMP_EQUAL, 2, 0, socket_call),
        (JUMP_EQUAL, 1, 0, IO_URING_SETUP),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    )
    instructions = (Instruction * len(code))(*(Instruction(*fields) for fields in code))
    program = Program(len(code), instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        error = ctypes.get_errno()
        raise OSError(error, f"the filter of system calls does not work: {os.strerror(error)}")


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
        confine(rules["writable"], rules["readable"])
        refuse_sockets()
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}: {error.filename or command[0]}\n")
    return EXIT_UNAVAILABLE


if __name__ == "__main__":
    raise SystemExit(main())
