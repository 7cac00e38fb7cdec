"""Locks of files and folders between processes. The system gives them back when a process ends, however it ends.

A lock of a file stays until the descriptor is closed; on POSIX, also until the copies in child processes are closed.
Windows locks bytes, and nobody else can read these. So one byte is locked there that is far behind each end. It does
not lock folders at all: a named object stands for the lock of a folder.
"""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.disk.opening import NO_WAIT, READING_AND_WRITING, open_unlinked

LOCK_POLL_S = 0.05
"""Time between two tries to take a lock that another process has."""

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


def open_lock_file(file: Path) -> int:
    """Open a file to lock it, and return its descriptor. What has this name and is no regular file is removed.

    Raises:
        OSError: The file is a link or a folder, or it cannot be written.
    """
    return open_unlinked(remove_irregular_file(file), READING_AND_WRITING | os.O_CREAT | NO_WAIT)


class FileLock:
    """The lock of a file by one object of one process. The file stays when the lock is given back.

    Args:
        file: The file. It is opened by `acquire`.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Return whether this object has the lock."""
        return self._descriptor is not None

    def acquire(self, timeout_s: float = 0.0) -> int:
        """Take the lock, and return the descriptor of the file. Nothing changes if this object has the lock already.

        Args:
            timeout_s: Time to wait for another holder of the lock.

        Raises:
            BlockingIOError: Another one still has the lock.
            OSError: The file cannot be opened or locked.
        """
        if self._descriptor is None:
            deadline_s = monotonic() + timeout_s
            descriptor = open_lock_file(self._file)
            try:
                while not _try_lock(descriptor, is_last_try=monotonic() >= deadline_s):
                    sleep(LOCK_POLL_S)
            except BaseException:
                os.close(descriptor)
                raise
            self._descriptor = descriptor
        return self._descriptor

    def release(self) -> None:
        """Give the lock back. Nothing happens if this object does not have it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    @contextmanager
    def hold(self, timeout_s: float = 0.0) -> Generator[None]:
        """Have the lock during a `with` statement. The argument and the errors are those of `acquire`."""
        self.acquire(timeout_s)
        try:
            yield
        finally:
            self.release()


def _try_lock(descriptor: int, *, is_last_try: bool) -> bool:
    """Return whether the lock of a file was taken. Raise BlockingIOError if it was not, and this was the last try."""
    try:
        lock(descriptor)
    except BlockingIOError:
        if is_last_try:
            raise
        return False
    return True


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
