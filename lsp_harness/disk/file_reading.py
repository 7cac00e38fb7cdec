"""Reading files whose names are fixed. Anything may lie under such a name: a pipe, a device, a link to one, a huge file.

Only regular files are read, and only up to a limit. A link counts as what it leads to. The file is looked at before it is
opened, because to open some devices does something, and again when it is open, because it may have been replaced in between.
"""

import errno
import io
import os
import stat
from pathlib import Path

from lsp_harness.errors import FileMissing, FileProblem

READ_LIMIT_BYTES = 1_000_000
"""Bytes of a file of settings, rules or figures; a larger one is something else."""
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
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
"""The remedy that a message adds, by the number of the system's error."""
UTF_8_BOM = b"\xef\xbb\xbf"
UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file for reading, without ever waiting for it. Raises FileMissing or FileProblem."""
    try:
        _check(path, os.stat(path))
        descriptor = os.open(path, READ_FLAGS)
    except (OSError, ValueError) as error:
        raise read_problem(path, error) from error
    try:
        _check(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_start(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a file, or its first `limit` bytes. Raises FileMissing or FileProblem."""
    with open_regular(path) as file:
        try:
            data = file.read(limit)
        except OSError as error:
            raise read_problem(path, error) from error
    # some files of the kernel have nothing to say yet
    if data is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FileProblem(f"{path} cannot be read without waiting for it")
    return data


def read_end(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a file, or its last `limit` bytes. Raises FileMissing or FileProblem."""
    with open_regular(path) as file:
        try:
            file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
            return file.read(limit)
        except OSError as error:
            raise read_problem(path, error) from error


def read_file(path: Path, limit: int = READ_LIMIT_BYTES) -> bytes:
    """Read a whole file. Raises FileMissing, or FileProblem where it is no regular file or has more than `limit` bytes."""
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise FileProblem(f"{path} is larger than the {limit:,} bytes that are read of such a file")
    return data


def read_text(path: Path, limit: int = READ_LIMIT_BYTES) -> str:
    """Read a whole file as UTF-8, with or without a byte order mark. Raises FileMissing or FileProblem."""
    data = read_file(path, limit)
    if data.startswith(UTF_16_BOMS):
        raise FileProblem(f"{path} is UTF-16; save it as UTF-8")
    try:
        return data.removeprefix(UTF_8_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileProblem(f"{path} is not UTF-8 in line {line}; save it as UTF-8") from error


def is_regular_file(path: Path) -> bool:
    """Whether there is a regular file under this name, or a link to one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_problem(path: Path, error: Exception) -> FileProblem:
    """The problem that an error of the system or a name that no file can have amounts to."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return FileProblem(f"{path} is a link that leads to nothing; remove it")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return FileMissing(f"there is no file {path}")
    remedy = REMEDIES.get(error.errno or 0, "") if isinstance(error, OSError) else ""
    return FileProblem(f"{path} cannot be read: {system_message(error)}{remedy}")


def system_message(error: BaseException) -> str:
    """What the system says, without number and name."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _check(path: Path, told: os.stat_result) -> None:
    if not stat.S_ISREG(told.st_mode):
        kind = FILE_KINDS.get(stat.S_IFMT(told.st_mode), "something else")
        link = "leads to" if path.is_symlink() else "is"
        raise FileProblem(f"{path} {link} {kind}, not a regular file; it is not read; remove it or put a file there")
