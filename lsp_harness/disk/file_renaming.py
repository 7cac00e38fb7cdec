"""Renaming files so that nothing is overwritten that another program may have written just now.

A check followed by `os.replace` has a gap: what is saved in it is lost. Here the file that was there keeps a name, and
can be looked at afterwards.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
"""Errors of a system or a file system that cannot do it."""
_renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None


def exchange(new: Path, file: Path) -> None:
    """Let two files change their names: afterwards `new` is what `file` was. Raises OSError.

    Where the system cannot do it in one step, there is a moment in which a change of `file` by another program is lost.
    """
    if _try_rename(new, file, RENAME_EXCHANGE):
        return
    other = new.with_name(f"{new.name}.other")
    os.link(file, other, follow_symlinks=False)
    os.replace(new, file)
    os.rename(other, new)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file. Raises FileExistsError if something has the new name, and OSError."""
    if _try_rename(source, target, RENAME_NOREPLACE):
        return
    os.link(source, target, follow_symlinks=False)
    os.unlink(source)


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
