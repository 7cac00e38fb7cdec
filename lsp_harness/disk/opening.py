"""The flags with which files are opened on this system, and the opening of files that must not be links.

Python itself keeps descriptors from other programs. On Windows a file must be opened as binary, because its line ends
are changed otherwise; nothing there waits when it is opened, and a link is looked for before, in a step of its own.
"""

import errno
import os
import sys
from pathlib import Path
from typing import Self

if sys.platform == "win32":
    _ALWAYS = os.O_BINARY
    NO_WAIT = 0
    _NO_LINK = 0
else:
    _ALWAYS = 0
    NO_WAIT = os.O_NONBLOCK | os.O_NOCTTY
    """Flags by which a pipe or a terminal with the name of a file cannot stop this process."""
    _NO_LINK = os.O_NOFOLLOW
READING = os.O_RDONLY | _ALWAYS
WRITING = os.O_WRONLY | _ALWAYS
READING_AND_WRITING = os.O_RDWR | _ALWAYS


def open_unlinked(path: str | os.PathLike[str], flags: int, mode: int = 0o600) -> int:
    """Open a file that must not be a symbolic link, and return its descriptor. Raises OSError."""
    if not _NO_LINK and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return os.open(path, flags | _NO_LINK, mode)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read at most `size` bytes of an open file from a place on. Raises OSError."""
    if sys.platform == "win32":
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
    return os.pread(descriptor, size, offset)


class OpenFolder:
    """A folder of our own, which must not be a link. Its files are opened in it, even if the folder is replaced.

    Windows opens no folders, so the path is used there.
    """

    def __init__(self, folder: Path) -> None:
        """Open the folder. Raises OSError."""
        self._folder = folder
        self._descriptor = -1
        if sys.platform == "win32":
            if folder.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
            # it must be there
            os.stat(folder)
        else:
            self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    def __enter__(self) -> Self:
        """Return the folder, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def open_file(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a file of the folder that must not be a link, and return its descriptor. Raises OSError."""
        if sys.platform == "win32":
            return open_unlinked(self._folder / name, flags, mode)
        return os.open(name, flags | _NO_LINK, mode, dir_fd=self._descriptor)

    def remove_file(self, name: str) -> None:
        """Remove a file of the folder. Raises OSError."""
        if sys.platform == "win32":
            os.unlink(self._folder / name)
        else:
            os.unlink(name, dir_fd=self._descriptor)
