"""The filter of system calls (seccomp) of the sandboxes.

A filter sees the numbers that a program gives to the kernel, but no path and no text. So it refuses what namespaces and
Landlock do not cover: the keys that the kernel keeps for a user, sockets that belong to no network, and, where other
processes are not hidden, changes of their limits and priorities.

It belongs to `namespace_launcher.py` and `landlock_launcher.py`, beside which it lies, and runs in Python 3.8 and later
like them. On a processor that is not in `PROCESSORS` there is no filter.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Sequence

    Step = tuple[int, int, int, int]
    """An instruction: its code, the steps that it leaves out if it is true or false, and its value."""

assert sys.platform == "linux"

PROCESSORS = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Processor → its number for filters (`AUDIT_ARCH_…`), and the column of its system calls."""
X32_CALLS = 0x40000000
"""The first number of the second table of system calls of x86-64."""
LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
"""Instructions of a filter (linux/filter.h)."""
CALL_OFFSET, PROCESSOR_OFFSET, ARGUMENT_OFFSET, ARGUMENT_BYTES = 0, 4, 16, 8
"""Offsets in `struct seccomp_data`."""
ALLOW, REFUSE, ASK = 0x7FFF0000, 0x00050000 | 1, 0x7FC00000
"""The system call happens, it fails with EPERM, or another process answers it (SECCOMP_RET_USER_NOTIF)."""
NOT_SUPPORTED = 0x00050000 | 95
"""The system call fails with EOPNOTSUPP, as on file systems without attributes. `cp -a` and `install` accept that."""
NOT_KNOWN, NO_SUCH_REQUEST = 0x00050000 | 38, 0x00050000 | 25
"""The system call fails with ENOSYS, as in an older kernel, or with ENOTTY, as for another kind of file."""
INSTRUCTION = struct.Struct("=HBBI")
SECCOMP = (317, 277)
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8

SOCKET = (41, 198)
CHANGES_OF_THE_MACHINE = {
    # keys of the user that outlive the sandbox, and are read by other processes
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # doors to the kernel that tests hardly need, and that have often been broken
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    # a ring opens sockets, and its requests pass no filter
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # opens a file by its number, past all mounts
    "open_by_handle_at": (304, 265),
    # the log of the kernel names addresses and programs
    "syslog": (103, 116),
    "fanotify_init": (300, 262),
}
"""System calls about the whole machine or the whole user, which no namespace keeps apart. Columns as `PROCESSORS`."""
CLONE_OF_STRUCTURE = (435, 435)
"""The system call `clone3`. It starts a process in another group for resources, past all mounts, and a filter does not
see its flags. Programs use `clone` where it is not known."""
NEW_NAMESPACES = {"clone": (56, 220), "unshare": (272, 97)}
"""System calls that make namespaces, with flags as the first argument."""
NEW_GROUPS = 0x02000000
"""The flag for a namespace of groups for resources (CLONE_NEWCGROUP). In one of its own, a program could mount the
groups again, writable, and stop or kill the other processes of its group."""
DESCRIPTOR_COMMANDS = ((72, 25), (1024, 1036, 1038))
"""The system call `fcntl` and its commands about the file behind a descriptor, which need no right to write: a lease
lets others wait, and a hint about life time stays (F_SETLEASE, F_SET_RW_HINT, F_SET_FILE_RW_HINT)."""
CHANGES_OF_FILES = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
"""System calls that change the mode, the owner or the times of a file, for which Landlock has no rule."""
CHANGES_OF_ATTRIBUTES = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
"""System calls that change other attributes of a file."""
READS_OF_ATTRIBUTES = {
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "listxattrat": (465, 465),
}
"""System calls that read other attributes of a file by its path, for which Landlock has no rule."""
SHARED_OBJECTS = {
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
"""System calls for memory, semaphores and queues with a number or a name, which processes of the same user share."""
CHANGES_OF_PROCESSES = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""System calls whose first argument is the process that they change. 0 is the caller."""
PRIORITY_CALLS = {"setpriority": ((141, 140), 2), "ioprio_set": ((251, 30), 3)}
"""System calls whose first argument is the kind of the second one, and the kind that means all processes of a user."""
IOCTL = (16, 29)
TYPED_REQUESTS = (0x5412, 0x541C)
"""Requests of `ioctl` that type for the user of a terminal (TIOCSTI, TIOCLINUX)."""
REQUEST_GROUP = 0xFF00
REQUEST_GROUPS = (0x5400, 0x8900, 0x2100, 0xB700, 0xFF00)
"""Groups of requests that change no file: terminals and pipes, sockets, filters, namespaces and processes."""
FILE_REQUESTS = (
    # copies into a file that is open for writing (FICLONE, FICLONERANGE, FIDEDUPERANGE)
    *(0x40049409, 0x4020940D, 0xC0189436),
    # questions (FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP, FIGETBSZ)
    *(0x80086601, 0x80087601, 0x801C581F, 0xC020660B, 0x2),
)
"""Requests about files that change nothing of one that is open for reading only. Others do, such as those for flags,
versions and encryption, and each file system has some of its own."""

LOCAL_FAMILIES = (1, 2, 10, 16)
"""Families of sockets that belong to the network of the sandbox: Unix, IPv4, IPv6 and netlink. Others, such as those to
the host of a virtual machine (AF_VSOCK), belong to no network."""


def make_filter(families: Sequence[int] = LOCAL_FAMILIES, *, hides_processes: bool = True, asks: bool = False) -> bytes:
    """Return the filter of this processor, or nothing if there is none.

    Args:
        families: The families of sockets that can be opened. Connected pairs can be made in any case.
        hides_processes: Whether the sandbox hides other processes and keeps the files outside as they are. If not, the
            changes that Landlock does not know are refused.
        asks: Whether another process answers changes of the mode, the owner and the times of files instead.
    """
    if os.uname().machine not in PROCESSORS:
        return b""
    processor, column = PROCESSORS[os.uname().machine]
    # numbers of another table of system calls mean other things
    steps: list[Step] = [
        (LOAD, 0, 0, PROCESSOR_OFFSET),
        (JUMP_EQUAL, 1, 0, processor),
        (RETURN, 0, 0, REFUSE),
        (LOAD, 0, 0, CALL_OFFSET),
        (JUMP_AT_LEAST, 0, 1, X32_CALLS),
        (RETURN, 0, 0, REFUSE),
    ]
    for numbers in CHANGES_OF_THE_MACHINE.values():
        steps += _end(numbers[column], REFUSE)
    steps += _end(CLONE_OF_STRUCTURE[column], NOT_KNOWN)
    for numbers in NEW_NAMESPACES.values():
        flag: list[Step] = [(LOAD, 0, 0, _argument_offset(0)), (AND, 0, 0, NEW_GROUPS), *_allow_only((0,))]
        steps += _run_for_call(numbers[column], flag)
    call, commands = DESCRIPTOR_COMMANDS
    steps += _run_for_call(call[column], [(LOAD, 0, 0, _argument_offset(1)), *_none_of(commands)])
    steps += _run_for_call(IOCTL[column], [(LOAD, 0, 0, _argument_offset(1)), *_none_of(TYPED_REQUESTS)])
    steps += _run_for_call(SOCKET[column], [(LOAD, 0, 0, _argument_offset(0)), *_allow_only(families)])
    if not hides_processes:
        for numbers in SHARED_OBJECTS.values():
            steps += _end(numbers[column], REFUSE)
        for numbers in CHANGES_OF_PROCESSES.values():
            steps += _run_for_call(numbers[column], [(LOAD, 0, 0, _argument_offset(0)), *_allow_only((0,))])
        for numbers, user in PRIORITY_CALLS.values():
            kind: list[Step] = [(LOAD, 0, 0, _argument_offset(0)), (JUMP_EQUAL, 0, 1, user), (RETURN, 0, 0, REFUSE)]
            steps += _run_for_call(numbers[column], [*kind, (LOAD, 0, 0, _argument_offset(1)), *_allow_only((0,))])
        steps += _run_for_call(IOCTL[column], _keep_requests())
        for numbers in (*CHANGES_OF_ATTRIBUTES.values(), *READS_OF_ATTRIBUTES.values()):
            steps += _end(numbers[column], NOT_SUPPORTED)
        for files in CHANGES_OF_FILES.values():
            if (number := files[column]) is not None:
                steps += _end(number, ASK if asks else REFUSE)
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(INSTRUCTION.pack(*step) for step in steps)


def _argument_offset(index: int) -> int:
    """Return the offset of the lower half of an argument."""
    return ARGUMENT_OFFSET + index * ARGUMENT_BYTES


def _end(number: int, action: int) -> list[Step]:
    """Return the steps that end with an action for one system call."""
    return [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, action)]


def _run_for_call(number: int, steps: list[Step]) -> list[Step]:
    """Return steps that run for one system call only. They may load arguments."""
    return [(JUMP_EQUAL, 0, len(steps) + 1, number), *steps, (LOAD, 0, 0, CALL_OFFSET)]


def _allow_only(values: Sequence[int], action: int = REFUSE) -> list[Step]:
    """Return the steps that end with an action for all values but some."""
    jumps: list[Step] = [(JUMP_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [*jumps, (RETURN, 0, 0, action)]


def _none_of(values: Sequence[int]) -> list[Step]:
    """Return the steps that refuse some values."""
    return [step for value in values for step in _end(value, REFUSE)]


def _keep_requests() -> list[Step]:
    """Return the steps that refuse all requests of `ioctl` but those that change no file."""
    groups: list[Step] = [(AND, 0, 0, REQUEST_GROUP), *_allow_only(REQUEST_GROUPS, NO_SUCH_REQUEST)]
    known: list[Step] = [
        (JUMP_EQUAL, len(FILE_REQUESTS) - place - 1 + len(groups), 0, value)
        for place, value in enumerate(FILE_REQUESTS)
    ]
    return [(LOAD, 0, 0, _argument_offset(1)), *known, *groups]


class FilterProgram(ctypes.Structure):
    """A filter (`struct sock_fprog`)."""

    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.c_char_p))


def set_filter(code: bytes) -> None:
    """Set a filter for this process and its descendants. It needs `PR_SET_NO_NEW_PRIVS`.

    Raises:
        OSError: The kernel refuses.
    """
    if code:
        _set_filter(code, 0)


def set_asking_filter(code: bytes) -> int:
    """Set a filter that asks (`ASK`), and return the descriptor of the questions.

    Returns:
        -1 if a filter asks already: there can be only one.

    Raises:
        OSError: The kernel refuses.
    """
    try:
        return _set_filter(code, SECCOMP_FILTER_FLAG_NEW_LISTENER)
    except OSError as error:
        if error.errno == errno.EBUSY:
            return -1
        raise


def _set_filter(code: bytes, flags: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    program = FilterProgram(len(code) // INSTRUCTION.size, code)
    call = SECCOMP[PROCESSORS[os.uname().machine][1]]
    number, operation = ctypes.c_long(call), SECCOMP_SET_MODE_FILTER
    result = libc.syscall(number, ctypes.c_ulong(operation), ctypes.c_ulong(flags), ctypes.byref(program))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"the filter of system calls does not work: {os.strerror(error)}")
    return int(result)
