"""The owner, the mode and the extended attributes of a file, for the file that takes its place, and room on the disk.

Windows keeps the rights of a file by itself when another one replaces it (`ReplaceFileW`).
"""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.ownership import set_mode


def copy_attributes(old: Path, status: os.stat_result, new: Path, descriptor: int) -> None:
    """Give an open new file the owner, the attributes and the mode of another one, as far as the system allows it.

    Args:
        old: The file that is replaced.
        status: The status of the file that is replaced.
        new: The new file.
        descriptor: The descriptor of the new file.
    """
    if sys.platform != "win32" and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except OSError:
            # most users may not change the owner, but perhaps the group
            with suppress(OSError):
                os.fchown(descriptor, -1, status.st_gid)
    if sys.platform == "linux":
        with suppress(OSError):
            # access control lists are extended attributes
            for name in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(old, name))
    # this is the last step, because changing the owner clears bits of the mode
    set_mode(descriptor, new, stat.S_IMODE(status.st_mode))


def reserve_room(descriptor: int, size: int) -> None:
    """Take room on the disk for an open file, if the system can. Raises OSError if there is too little."""
    if sys.platform == "linux" and size:
        os.posix_fallocate(descriptor, 0, size)
