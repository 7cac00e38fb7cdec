"""Reading files that have fixed names. A pipe, a device, a link to one or a huge file may have such a name.

Only regular files are read, and only up to a limit. A link is followed. The file type is checked before the file is
opened, because opening some devices has an effect. It is checked again afterwards, because the file may have been
replaced in between.
"""

import errno
import io
import os
import stat
from pathlib import Path

from lsp_harness.disk.opening import NO_WAIT, READING
from lsp_harness.errors import FileError, FileMissing

READ_LIMIT_BYTES = 1_000_000
"""Maximum size of a file of settings, rules or measurements. A larger file is something else."""
READ_FLAGS = READING | NO_WAIT
FILE_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
REMEDIES = {
    errno.EACCES: "; give yourself the right to read it (chmod u+r)",
    errno.ELOOP: "; remove the link",
    errno.EIO: "; check the disk",
}
"""Error number of the system → what the user can do."""
UTF_8_BOM = b"\xef\xbb\xbf"
UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file for reading without waiting for it. Raises FileMissing or FileError."""
    try:
        _check_regular(path, os.stat(path))
        descriptor = os.open(path, READ_FLAGS)
    except (OSError, ValueError) as error:
        raise read_problem(path, error) from error
    try:
        _check_regular(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_start(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a file, or its first `limit` bytes. Raises FileMissing or FileError."""
    with open_regular(path) as file:
        try:
            data = file.read(limit)
        except OSError as error:
            raise read_problem(path, error) from error
    # a non-blocking read of some kernel files returns None while they have no data
    if data is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FileError(f"{path} cannot be read without waiting for it")
    return data


def read_end(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a file, or its last `limit` bytes. Raises FileMissing or FileError."""
    with open_regular(path) as file:
        try:
            file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
            return file.read(limit)
        except OSError as error:
            raise read_problem(path, error) from error


def read_file(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a whole file.

    Raises:
        FileMissing: There is no such file.
        FileError: It is not a regular file, or it has more than `limit` bytes.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise FileError(f"{path} is larger than {limit:,} bytes, the limit for such a file")
    return data


def read_text(path: Path, limit: int = READ_LIMIT_BYTES) -> str:
    """Read a whole file as UTF-8, with or without a byte order mark. Raises FileMissing or FileError."""
    data = read_file(path, limit)
    if data.startswith(UTF_16_BOMS):
        raise FileError(f"{path} is UTF-16; save it as UTF-8")
    try:
        return data.removeprefix(UTF_8_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path} is not UTF-8 in line {line}; save it as UTF-8") from error


def is_regular_file(path: Path) -> bool:
    """Return whether the path is a regular file or a link to one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_problem(path: Path, error: Exception) -> FileError:
    """Return the FileError for an error of the system, or for a path that is not valid."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return FileError(f"{path} is a link to a file that does not exist; remove the link")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return FileMissing(f"there is no file {path}")
    remedy = REMEDIES.get(error.errno or 0, "") if isinstance(error, OSError) else ""
    return FileError(f"{path} cannot be read: {describe_system_error(error)}{remedy}")


def describe_system_error(error: BaseException) -> str:
    """Return the message of an error without the error number and the path."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _check_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = FILE_KINDS.get(stat.S_IFMT(status.st_mode), "a special file")
        verb = "is a link to" if path.is_symlink() else "is"
        raise FileError(f"{path} {verb} {kind}, not a regular file; remove it or replace it with a file")
