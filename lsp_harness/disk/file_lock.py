"""Locks of files and folders between processes. The system gives them back when a process ends, however it ends.

A lock of a file stays until the descriptor is closed; on POSIX, also until the copies in child processes are closed.
Windows locks bytes, and nobody else can read these. So one byte is locked there that is far behind each end. It does
not lock folders at all: a named object stands for the lock of a folder.
"""

import errno
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import ctypes
    import hashlib
    import msvcrt
    from ctypes import wintypes

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateMutexW.restype = wintypes.HANDLE
    _kernel32.CloseHandle.argtypes = (wintypes.HANDLE,)
    LOCK_FAIL_IMMEDIATELY, LOCK_EXCLUSIVE = 1, 2
    ERROR_LOCK_VIOLATION, ERROR_ALREADY_EXISTS = 33, 183
    LOCKED_OFFSET_HIGH = 0x7FFF_FFFF
    """The upper half of the place of the byte that is locked."""

    class _Overlapped(ctypes.Structure):
        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", wintypes.DWORD),
            ("offset_high", wintypes.DWORD),
            ("event", wintypes.HANDLE),
        )

else:
    import fcntl


def lock(descriptor: int, *, is_shared: bool = False, waits: bool = False) -> None:
    """Lock an open file, until its descriptor is closed.

    Args:
        descriptor: The descriptor of the file.
        is_shared: Let other processes have a shared lock, too.
        waits: Wait until the lock is free.

    Raises:
        BlockingIOError: Another process has the lock.
        OSError: The file system knows no locks.
    """
    if sys.platform == "win32":
        flags = (0 if is_shared else LOCK_EXCLUSIVE) | (0 if waits else LOCK_FAIL_IMMEDIATELY)
        place = _Overlapped(offset_high=LOCKED_OFFSET_HIGH)
        handle = wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))
        if not _kernel32.LockFileEx(handle, flags, 0, 1, 0, ctypes.byref(place)):
            number = ctypes.get_last_error()
            if number == ERROR_LOCK_VIOLATION:
                raise BlockingIOError(errno.EAGAIN, "another process has the lock")
            raise ctypes.WinError(number)
    else:
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if waits else kind | fcntl.LOCK_NB)


class FolderLock:
    """The lock of a folder by one process. The folder is opened at once, and locked by `acquire`.

    Attributes:
        status: The status of the folder.
    """

    def __init__(self, folder: Path) -> None:
        """Open a folder that must not be a link. Raises OSError."""
        self._folder = folder
        self._handle = -1
        if sys.platform == "win32":
            self.status = os.lstat(folder)
            if folder.is_symlink() or not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        else:
            self._handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            self.status = os.fstat(self._handle)

    def acquire(self) -> None:
        """Take the lock. Raises BlockingIOError if another process has it, and OSError."""
        if sys.platform == "win32":
            name = os.path.normcase(os.path.realpath(self._folder))
            key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            handle = _kernel32.CreateMutexW(None, False, f"Local\\lsp-harness-{key}")
            number = ctypes.get_last_error()
            if not handle:
                raise ctypes.WinError(number)
            if number == ERROR_ALREADY_EXISTS:
                _kernel32.CloseHandle(handle)
                raise BlockingIOError(errno.EAGAIN, "another process has the lock")
            self._handle = int(handle)
        else:
            lock(self._handle)

    def close(self) -> None:
        """Give the lock back, and close the folder. A second call does nothing."""
        handle, self._handle = self._handle, -1
        if handle < 0:
            return
        if sys.platform == "win32":
            _kernel32.CloseHandle(handle)
        else:
            os.close(handle)
