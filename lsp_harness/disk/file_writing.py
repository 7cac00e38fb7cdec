"""Writing files so that a full disk, a crash or a missing permission leaves the old file unchanged.

The new content is written to a temporary file in the same folder and flushed to the disk. Then the temporary file gets
the name of the old file. The mode, the owner (if the system allows it), the extended attributes and links are
preserved. The target of a symbolic link is replaced. A file with several names (hard links) is overwritten in place,
after its space on the disk has been reserved.
"""

import errno
import io
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsp_harness.disk.file_attributes import copy_attributes, reserve_room
from lsp_harness.disk.file_reading import describe_system_error, is_regular_file
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.opening import NO_WAIT, WRITING, open_unlinked
from lsp_harness.disk.renaming import exchange, replace, sync_folder
from lsp_harness.errors import FileError, StaleDocument

DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
PERMISSION_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY})
NEW_FILE_FLAGS = WRITING | os.O_CREAT | os.O_EXCL
"""Flags that open a new file. With `O_EXCL`, a link in its place is an error, too."""
EXISTING_FILE_FLAGS = WRITING | NO_WAIT
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
    flags = os.O_APPEND | os.O_CREAT | EXISTING_FILE_FLAGS
    return os.open(path, flags, 0o600) if follows_links else open_unlinked(path, flags)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes. One call of `os.write` may write only some of them. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def probe_folder(folder: Path) -> None:
    """Check that files can be written in a folder: write a temporary file and remove it. Raises OSError."""
    with _temporary_file(folder) as (file, _):
        write_all(file.fileno(), bytes(PROBE_BYTES))
        os.fsync(file.fileno())


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
    with _temporary_file(target.parent) as (file, new):
        write_all(file.fileno(), data)
        if status:
            copy_attributes(target, status, new, file.fileno())
        if durable:
            os.fsync(file.fileno())
        # Windows renames no file that is open
        file.close()
        if expected is None or not status:
            replace(new, target)
        else:
            exchange(new, target)
            if new.read_bytes() != expected:
                exchange(new, target)
                raise StaleDocument(f"{target} was changed just now; read it again and repeat the edit")
        if durable:
            # the new name must survive a power cut too
            sync_folder(target.parent)


@contextmanager
def _temporary_file(folder: Path) -> Generator[tuple[io.FileIO, Path]]:
    """Yield an open temporary file in a folder, and its path.

    The file is removed at the end, if it was not renamed.
    """
    new = folder / f".lsp-harness-{secrets.token_hex(6)}.tmp"
    descriptor = os.open(new, NEW_FILE_FLAGS, 0o600)
    try:
        with io.FileIO(descriptor, "wb") as file:
            yield file, new
    finally:
        with suppress(OSError):
            os.unlink(new)


def _overwrite_in_place(target: Path, data: bytes, size: int) -> None:
    descriptor = os.open(target, EXISTING_FILE_FLAGS)
    try:
        try:
            reserve_room(descriptor, len(data))
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
