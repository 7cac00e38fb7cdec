"""The calls of the Linux kernel for a view of the machine: mounts, the loopback interface and rights.

It belongs to `namespace_launcher.py`, beside which it lies, and runs in Python 3.8 and later like that.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
"""A stand-in for `typing.TYPE_CHECKING`: the module `typing` takes long to import."""
if TYPE_CHECKING:
    from collections.abc import Sequence

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_SETATTR = 442
"""Number of the system call, the same on all processors."""
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY, MOUNT_ATTR_NODEV = -100, 0x8000, 1, 4
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 4, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL, PR_SET_CHILD_SUBREAPER = 4, 36
CAPABILITY_VERSION = 0x20080522
KEPT_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 31)
"""Capabilities of a program of root: about owners of files and processes. None of them reaches outside of the view."""
MOST_CAPABILITIES = 64
AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, INTERFACE_IS_UP = 2, 2, 0x8914, 0x41

assert sys.platform == "linux"
libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(ctypes.Structure):
    """The attributes that a system call sets and clears (`struct mount_attr`)."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


class CapabilityHeader(ctypes.Structure):
    """The process whose capabilities are set (`struct __user_cap_header_struct`)."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class CapabilityData(ctypes.Structure):
    """One half of the capabilities of a process (`struct __user_cap_data_struct`)."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def open_folder(path: str) -> int:
    """Return a descriptor of a folder, which stays the same when something is mounted over its path."""
    return os.open(path, os.O_PATH | os.O_DIRECTORY)


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system.

    Raises:
        OSError: The kernel refuses.
    """
    result = libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    check(result, f"{kind or 'a folder'} cannot be mounted on {target}")


def unmount(path: str) -> None:
    """Unmount a file system. What keeps it open can go on with it."""
    libc.umount2(os.fsencode(path), MNT_DETACH)


def bind(descriptor: int, path: str) -> None:
    """Mount an opened file or folder on a path, which is made if it is not there."""
    source = f"/proc/self/fd/{descriptor}"
    if not os.path.lexists(path):
        if os.path.isdir(source):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    mount(source, path, "", MS_BIND | MS_REC)


def bind_writable(path: str) -> None:
    """Mount a folder on itself, so that it can be written."""
    mount(path, path, "", MS_BIND)
    set_read_only(path, is_set=False)


def set_read_only(path: str, is_set: bool = True, recursive: bool = False) -> None:
    """Let a mount be read only, or not."""
    change = (MOUNT_ATTR_RDONLY, 0) if is_set else (0, MOUNT_ATTR_RDONLY)
    _set_attributes(path, *change, recursive, f"{path} cannot be made {'read-only' if is_set else 'writable'}")


def close_devices(path: str) -> None:
    """Let no device be opened that lies in a mount or in those below it. Writing to one changes no file system."""
    _set_attributes(path, MOUNT_ATTR_NODEV, 0, True, f"the devices in {path} cannot be closed")


def open_device(path: str) -> None:
    """Let the device at the place of a mount be opened."""
    _set_attributes(path, 0, MOUNT_ATTR_NODEV, False, f"the device {path} cannot be opened")


def _set_attributes(path: str, added: int, removed: int, recursive: bool, problem: str) -> None:
    attributes = MountAttributes(added, removed, 0, 0)
    result = libc.syscall(
        ctypes.c_long(MOUNT_SETATTR),
        AT_FDCWD,
        os.fsencode(path),
        AT_RECURSIVE if recursive else 0,
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    check(result, problem)


def start_loopback() -> None:
    """Let programs of the view reach each other at 127.0.0.1."""
    control = libc.socket(AF_INET, SOCK_DGRAM, 0)
    check(control, "a socket cannot be made")
    flags = INTERFACE_IS_UP.to_bytes(2, sys.byteorder)
    check(libc.ioctl(control, ctypes.c_ulong(SIOCSIFFLAGS), b"lo".ljust(16, b"\0") + flags + bytes(22)), "no loopback")
    os.close(control)


def drop_rights(kept: Sequence[int] = KEPT_CAPABILITIES) -> None:
    """Give up the rights to change the view or the machine. Programs of root keep those about owners of files.

    Args:
        kept: The capabilities that programs of root keep.

    Raises:
        OSError: The kernel refuses.
    """
    kept = kept if os.geteuid() == 0 else ()
    for number in range(MOST_CAPABILITIES):
        if number not in kept and libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0):
            break
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    mask = sum(1 << number for number in kept)
    data = (CapabilityData * 2)(CapabilityData(mask, mask, 0), CapabilityData(mask >> 32, mask >> 32, 0))
    header = CapabilityHeader(CAPABILITY_VERSION, 0)
    check(libc.capset(ctypes.byref(header), data), "the capabilities cannot be dropped")
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS failed")


def check(result: int, problem: str) -> None:
    """Raise the error of the last call if its result is negative.

    Raises:
        OSError: The call failed.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{problem}: {os.strerror(code)}")
