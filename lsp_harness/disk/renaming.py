"""The steps by which a file gets the name of another one: exchange, a new name, and the way to the disk.

Linux exchanges two names in one step. Windows replaces a file and keeps the old one under a third name in one step
(`ReplaceFileW`), and the new file gets the rights of the old one. It does not rename a file that a program has open
without sharing it, such as a scanner of viruses, so a rename is tried for a moment there.
"""

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
"""Errors of a system or a file system that cannot do it."""
TRIES, TRY_WAIT_S = 10, 0.05
"""Number of times that a rename is tried on Windows, and the wait between two of them."""
_renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None


def replace(new: Path, file: Path) -> None:
    """Give a file the name of another one, which is lost. Raises OSError."""
    if sys.platform == "win32":
        _retry(lambda: os.replace(new, file))
    else:
        os.replace(new, file)


def exchange(new: Path, file: Path) -> None:
    """Let two files change their names: afterwards `new` is what `file` was. Raises OSError.

    Where the system cannot do it in one step, there is a moment in which a change of `file` by another program is lost.
    """
    other = new.with_name(f"{new.name}.other")
    if sys.platform == "win32":
        _retry(lambda: _replace_and_keep(file, new, other))
        os.rename(other, new)
        return
    if _try_rename(new, file, RENAME_EXCHANGE):
        return
    os.link(file, other, follow_symlinks=False)
    os.replace(new, file)
    os.rename(other, new)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file. Raises FileExistsError if something has the new name, and OSError."""
    if sys.platform == "win32":
        # it never replaces anything there
        os.rename(source, target)
        return
    if _try_rename(source, target, RENAME_NOREPLACE):
        return
    os.link(source, target, follow_symlinks=False)
    os.unlink(source)


def sync_folder(folder: Path) -> None:
    """Wait until new names in a folder are safe from a power cut, if the file system can say so.

    Windows cannot flush a folder; NTFS writes names into its journal first.
    """
    if sys.platform != "win32":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def sync_data(descriptor: int) -> None:
    """Wait until the content of an open file is safe from a power cut. Raises OSError."""
    if sys.platform == "linux":
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def _try_rename(source: Path, target: Path, flags: int) -> bool:
    """Rename in one step. Return whether the system can do it. Raises OSError."""
    if _renameat2 is None:
        return False
    if _renameat2(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


def _retry(step: Callable[[], None]) -> None:
    """Do a step again for a moment while another program has the file open."""
    for number in range(TRIES):
        try:
            step()
        except PermissionError:
            if number == TRIES - 1:
                raise
            time.sleep(TRY_WAIT_S)
        else:
            return


def _replace_and_keep(file: Path, new: Path, kept: Path) -> None:
    """Give `new` the name of `file`, which gets the name `kept`. Raises OSError."""
    if sys.platform == "win32" and not ctypes.WinDLL("kernel32", use_last_error=True).ReplaceFileW(
        str(file), str(new), str(kept), 0, None, None
    ):
        raise ctypes.WinError(ctypes.get_last_error())
