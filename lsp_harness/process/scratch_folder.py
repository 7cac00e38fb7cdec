"""Folders for the files of programs that run for a while, which do not stay if this process is killed.

Each folder is locked as long as its process lives. A later process removes the folders that nobody has locked.
"""

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from time import time

from lsp_harness.disk.file_lock import FolderLock
from lsp_harness.disk.ownership import is_private

PREFIX = "lsp-harness-scratch-"
YOUNG_S = 60.0
"""Age below which a folder stays, because its process may not have locked it yet."""


class ScratchFolder:
    """A new private folder in the folder for temporary files. Remove it at the end.

    It lies in a folder of its own, whose mode a program that may write in it cannot change. So no other user gets to
    what the program makes there, such as a file with the rights of this user.

    Attributes:
        path: The path of the folder.
    """

    def __init__(self) -> None:
        _sweep_once()
        self._outer = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.path = self._outer / "files"
        self.path.mkdir(mode=0o700)
        self._lock: FolderLock | None = FolderLock(self._outer)
        self._lock.acquire()

    def remove(self) -> None:
        """Remove the folder and everything in it. A second call does nothing."""
        if self._lock:
            remove_tree(self._outer)
            self._lock.close()
            self._lock = None


def remove_tree(path: Path) -> None:
    """Remove a folder with everything in it, also what a program has made so that nobody can read or change it."""
    for folder, names, _ in os.walk(path):
        for name in names:
            if not os.path.islink(os.path.join(folder, name)):
                os.chmod(os.path.join(folder, name), 0o700)
    shutil.rmtree(path, ignore_errors=True)


def sweep() -> list[Path]:
    """Remove the folders whose processes have ended without removing them, and return these folders.

    A folder is removed only if this user owns it, nobody else can open it, and nobody has locked it.
    """
    removed: list[Path] = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = FolderLock(path)
        except OSError:
            continue
        try:
            if is_private(path, lock.status) and time() - lock.status.st_mtime > YOUNG_S:
                lock.acquire()
                remove_tree(path)
                removed.append(path)
        except OSError:
            # its process is at work
            pass
        finally:
            lock.close()
    return removed


@cache
def _sweep_once() -> None:
    sweep()
