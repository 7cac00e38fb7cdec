"""Writing files so that a full disk, a crash or a missing permission leaves the old file unchanged.

The new content is written to a temporary file in the same folder and flushed to the disk. Then the temporary file gets
the name of the old file. The mode, the owner (if the system allows it), the extended attributes and links are
preserved. The target of a symbolic link is replaced. A file with several names (hard links) is overwritten in place,
after its space on the disk has been reserved.
"""

import ctypes
import errno
import os
import secrets
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsp_harness.disk.file_reading import describe_system_error, is_regular_file
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, StaleDocument

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


DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
PERMISSION_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY})
NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EXISTING_FILE_FLAGS = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
PROBE_BYTES = 65_536
"""Size of the file that `probe_folder` writes. A disk with less free space counts as full."""


def replace_file(path: Path, data: bytes, expected: bytes | None = None) -> None:
    """Replace the content of a file of the user.

    Args:
        path: The file.
        data: The new content of the file.
        expected: The content that is given up. It is compared after the file has got another name, so that no save of
            the user in this moment is lost.

    Raises:
        StaleDocument: The file has another content than the expected one. It keeps it.
        FileError: The file cannot be written. It is unchanged.
    """
    target = Path(os.path.realpath(path))
    try:
        status = _stat_writable(target)
        if status and status.st_nlink > 1:
            _overwrite_in_place(target, data, status.st_size)
        else:
            _replace(target, data, status, expected=expected)
    except OSError as error:
        raise FileError(f"{path} was not changed: {_write_remedy(target, error)}") from error


def write_own_file(path: Path, data: bytes) -> None:
    """Write a file of our own, which only this user can read.

    Anything with this name that is not a regular file is removed first. Raises OSError.
    """
    remove_irregular_file(path)
    _replace(Path(os.path.realpath(path)), data, None, durable=False)


def open_for_append(path: Path, *, follows_links: bool = True) -> int:
    """Open a file of our own for appending. Return its descriptor.

    Anything with this name that is not a regular file is removed first. Raises OSError, also for a link that must not
    be followed.
    """
    remove_irregular_file(path)
    flags = EXISTING_FILE_FLAGS if follows_links else EXISTING_FILE_FLAGS | os.O_NOFOLLOW
    return os.open(path, os.O_APPEND | os.O_CREAT | flags, 0o600)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes. One call of `os.write` may write only some of them. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def probe_folder(folder: Path) -> None:
    """Check that files can be written in a folder: write a temporary file and remove it. Raises OSError."""
    with _temporary_file(folder) as (descriptor, _):
        write_all(descriptor, bytes(PROBE_BYTES))
        os.fsync(descriptor)


def remove_irregular_file(path: Path) -> Path:
    """Remove what has the name of a file of our own but is not a regular file: a pipe, or a link to a device or to
    nothing.

    Returns:
        The path.

    Raises:
        OSError: The path is a folder, or it cannot be removed.
    """
    if is_regular_file(path) or not os.path.lexists(path):
        return path
    status = os.lstat(path)
    if not path.is_symlink() and stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    os.unlink(path)
    warn_once(f"{path} was not a regular file; it was removed, and a new file is written")
    return path


def _stat_writable(target: Path) -> os.stat_result | None:
    """Return the status of a file that can be written, or None if it does not exist. Raises OSError."""
    try:
        descriptor = os.open(target, EXISTING_FILE_FLAGS)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return status


def _replace(
    target: Path, data: bytes, status: os.stat_result | None, *, durable: bool = True, expected: bytes | None = None
) -> None:
    with _temporary_file(target.parent) as (descriptor, new):
        write_all(descriptor, data)
        if status:
            _copy_attributes(target, descriptor, status)
        if durable:
            os.fsync(descriptor)
        if expected is None or not status:
            os.replace(new, target)
        else:
            exchange(new, target)
            if new.read_bytes() != expected:
                exchange(new, target)
                raise StaleDocument(f"{target} was changed just now; read it again and repeat the edit")
        if not durable:
            return
        # the new name must survive a power cut too; not every file system can flush a folder
        with suppress(OSError):
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def _temporary_file(folder: Path) -> Generator[tuple[int, Path]]:
    """Yield the descriptor and the path of a temporary file in a folder.

    The file is removed at the end, if it was not renamed.
    """
    new = folder / f".lsp-harness-{secrets.token_hex(6)}.tmp"
    descriptor = os.open(new, NEW_FILE_FLAGS, 0o600)
    try:
        yield descriptor, new
    finally:
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(new)


def _copy_attributes(target: Path, descriptor: int, status: os.stat_result) -> None:
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except OSError:
            # most users may not change the owner, but perhaps the group
            with suppress(OSError):
                os.fchown(descriptor, -1, status.st_gid)
    with suppress(OSError, AttributeError):
        # access control lists are extended attributes
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    # this is the last step, because changing the owner clears bits of the mode
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _overwrite_in_place(target: Path, data: bytes, size: int) -> None:
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


def _write_remedy(target: Path, error: OSError) -> str:
    """Return why a file was not written, and what the user can do about it."""
    message = describe_system_error(error).lower()
    if error.errno in DISK_FULL_ERRORS:
        return f"{message}; free some space on the disk of {target.parent} and try again"
    if error.errno == errno.EROFS:
        return f"{message}; mount it for writing, or work on a copy"
    if error.errno in PERMISSION_ERRORS:
        if os.access(target, os.W_OK):
            return f"{message} in the folder {target.parent}, where the new file is written; make the folder writable"
        return f"{message}; make the file writable (chmod u+w)"
    return message
