"""The lock that makes one process the only writer of a session."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.file_reading import read_start
from lsp_harness.disk.file_writing import remove_irregular_file, write_all
from lsp_harness.errors import FileError, UsageError

LOCK_NAME = "lock"


class SessionLock:
    """The lock of one session. It is free again when the process ends, however it ends.

    Args:
        folder: The folder of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            UsageError: Another process writes to the session.
            OSError: The lock cannot be created.
        """
        if self._descriptor is not None:
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        descriptor = os.open(remove_irregular_file(self._path), flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UsageError(
                f"the session {self._path.parent.name} is open in {self._holder()}; continue it there, or fork it"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        os.ftruncate(descriptor, 0)
        write_all(descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _holder(self) -> str:
        number = _read_holder(self._path)
        return f"the process {number}" if number else "another process"


def find_holder(folder: Path) -> int | None:
    """Return the number of the process that writes a session, 0 if it is unknown, or None if there is none."""
    path = folder / LOCK_NAME
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(path)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


def _read_holder(path: Path) -> int:
    with suppress(FileError):
        if (number := read_start(path, 32).decode(errors="replace").strip()).isdecimal():
            return int(number)
    return 0
