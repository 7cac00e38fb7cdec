"""Writing files so that a full disk, a crash or a missing permission leaves the old file as it was.

The new content is written to a file beside, and brought to the disk, before it takes the name of the old one. Mode, owner
(where the system allows it), extended attributes and links are kept: the file that a symbolic link leads to is replaced, and one
with several names (hard links) is overwritten in place, after the disk has set the room aside.
"""

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsp_harness.disk.file_reading import is_regular_file, system_message
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileProblem

DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
PERMISSION_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY})
NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EXISTING_FILE_FLAGS = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def replace_file(path: Path, data: bytes) -> None:
    """Give a file of the user's new content. Raises FileProblem, and then the file is what it was."""
    target = Path(os.path.realpath(path))
    try:
        told = _writable(target)
        if told and told.st_nlink > 1:
            _overwrite(target, data, told.st_size)
        else:
            _put(target, data, told)
    except OSError as error:
        raise FileProblem(f"{path} was not changed: {_remedy(target, error)}") from error


def write_own_file(path: Path, data: bytes) -> None:
    """Write a file of our own, for this user alone; whatever is under the name that is no regular file goes. Raises OSError."""
    remove_irregular_file(path)
    _put(Path(os.path.realpath(path)), data, None, durable=False)


def open_for_append(path: Path) -> int:
    """The descriptor of a file of our own that is appended to; what is there and no regular file goes. Raises OSError."""
    remove_irregular_file(path)
    return os.open(path, os.O_APPEND | os.O_CREAT | EXISTING_FILE_FLAGS, 0o600)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take only some of them. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def probe_folder(folder: Path) -> None:
    """Find out whether files can be written there, by writing one that is gone again. Raises OSError."""
    with _beside(folder) as (descriptor, _):
        write_all(descriptor, bytes(PROBE_BYTES))
        os.fsync(descriptor)


PROBE_BYTES = 65_536
"""Bytes of the file that a folder is tried with: a disk with less room than that is as good as full."""


def remove_irregular_file(path: Path) -> Path:
    """Remove what lies under the name of a file of our own and is none: a pipe, a link to a device or to nothing. The path.
    Raises OSError."""
    if is_regular_file(path) or not os.path.lexists(path):
        return path
    told = os.lstat(path)
    if not path.is_symlink() and stat.S_ISDIR(told.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    os.unlink(path)
    warn_once(f"{path} was no regular file; it was removed, and a new one is made")
    return path


def _writable(target: Path) -> os.stat_result | None:
    """What is known of a file that may be written; None where there is none yet."""
    try:
        descriptor = os.open(target, EXISTING_FILE_FLAGS)
    except FileNotFoundError:
        return None
    try:
        told = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(told.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return told


def _put(target: Path, data: bytes, told: os.stat_result | None, *, durable: bool = True) -> None:
    with _beside(target.parent) as (descriptor, new):
        write_all(descriptor, data)
        if told:
            _keep_traits(target, descriptor, told)
        if durable:
            os.fsync(descriptor)
        os.replace(new, target)
        if not durable:
            return
        # the name, too, should outlive a power cut; not every file system can promise it
        with suppress(OSError):
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def _beside(folder: Path) -> Generator[tuple[int, Path]]:
    """A new file in a folder, which is removed unless it was given another name."""
    new = folder / f".lsp-harness-{secrets.token_hex(6)}.tmp"
    descriptor = os.open(new, NEW_FILE_FLAGS, 0o600)
    try:
        yield descriptor, new
    finally:
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(new)


def _keep_traits(target: Path, descriptor: int, told: os.stat_result) -> None:
    if (told.st_uid, told.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, told.st_uid, told.st_gid)
        except OSError:
            # not everybody may give files away; the group alone may be allowed
            with suppress(OSError):
                os.fchown(descriptor, -1, told.st_gid)
    with suppress(OSError, AttributeError):
        # access lists are attributes, too
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    # last: to give a file away takes bits of its mode
    os.fchmod(descriptor, stat.S_IMODE(told.st_mode))


def _overwrite(target: Path, data: bytes, size: int) -> None:
    descriptor = os.open(target, EXISTING_FILE_FLAGS)
    try:
        try:
            if data:
                os.posix_fallocate(descriptor, 0, len(data))
        except OSError:
            os.ftruncate(descriptor, size)
            raise
        write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remedy(target: Path, error: OSError) -> str:
    """Why a file was not written, and what to do about it."""
    said = system_message(error).lower()
    if error.errno in DISK_FULL_ERRORS:
        return f"{said}; free some room on the disk of {target.parent} and run it again"
    if error.errno == errno.EROFS:
        return f"{said}; mount it for writing, or work on a copy"
    if error.errno in PERMISSION_ERRORS:
        if os.access(target, os.W_OK):
            return f"{said} in the folder {target.parent}, where the new file is made; make the folder writable"
        return f"{said}; make the file writable (chmod u+w)"
    return said
