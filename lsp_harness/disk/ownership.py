"""The owner of files: who this user is, and whether only this user can use a file.

On Windows, the mode and the owner that Python tells say nothing. There, access follows from the folder: Windows gives
the profile of a user to that user and to administrators, and a folder that Python makes with mode 0700 is closed to
others (Python 3.11.10 and newer). So a file counts as private there if it is below the profile.
"""

import os
import sys
from pathlib import Path

OTHERS = 0o077
"""The bits of a mode that let other users use a file."""


def user_number() -> int:
    """Return the number of this user, as `st_uid` tells it. It is 0 for everybody on Windows."""
    if sys.platform == "win32":
        return 0
    return os.getuid()


def user_and_group() -> str:
    """Return the numbers of this user and its group as `docker` reads them. It is empty on Windows."""
    if sys.platform == "win32":
        return ""
    return f"{os.getuid()}:{os.getgid()}"


def is_root() -> bool:
    """Return whether this process may do everything because its user is root. No user of Windows is."""
    if sys.platform == "win32":
        return False
    return os.geteuid() == 0


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user, as far as the system tells it."""
    return status.st_uid == user_number()


def find_home() -> Path | None:
    """Return the home folder of the user. None if no variable names it and the user is in no list of users."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def is_closed(path: Path, status: os.stat_result) -> bool:
    """Return whether only the owner can use a file or a folder."""
    if sys.platform == "win32":
        return is_below(path, Path.home())
    return not status.st_mode & OTHERS


def is_private(path: Path, status: os.stat_result) -> bool:
    """Return whether only this user can use a file or a folder."""
    return is_own(status) and is_closed(path, status)


def is_below(path: Path, folder: Path) -> bool:
    """Return whether a path leads into a folder, by the rules of this system about capital letters and links."""
    inner, outer = (os.path.normcase(os.path.realpath(name)) for name in (path, folder))
    try:
        return os.path.commonpath((inner, outer)) == outer
    except ValueError:
        # they are on two drives
        return False


def set_mode(descriptor: int, path: Path, mode: int) -> None:
    """Set the permissions of an open file. Windows only knows whether a file may be written. Raises OSError."""
    if sys.platform == "win32":
        os.chmod(path, mode)
    else:
        os.fchmod(descriptor, mode)
