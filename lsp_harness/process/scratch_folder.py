"""Folders for the files of programs that run for a while, which do not stay if this process is killed.

Each folder is locked as long as its process lives. A later process removes the folders that nobody has locked.
"""

import fcntl
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from time import time

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
        self._descriptor = os.open(self._outer, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the folder and everything in it. A second call does nothing."""
        if self._descriptor >= 0:
            remove_tree(self._outer)
            os.close(self._descriptor)
            self._descriptor = -1


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
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            status = os.fstat(descriptor)
            is_ours = status.st_uid == os.geteuid() and status.st_mode & 0o777 == 0o700
            if is_ours and time() - status.st_mtime > YOUNG_S:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
                removed.append(path)
        except OSError:
            # its process is at work
            pass
        finally:
            os.close(descriptor)
    return removed


@cache
def _sweep_once() -> None:
    sweep()
