"""A token in a file that only its user can read."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from lsp_harness.errors import FileError, FileMissing

MIN_TOKEN_CHARS = 32
"""A file with fewer characters was cut off while it was written."""
MAX_FILE_BYTES = 10_000


def ensure_token(file: Path) -> str:
    """Return the token of a file, which is created with a new one if it is missing.

    Two processes that start at once get the same token.

    Args:
        file: The file. Its folder is created for its user only.

    Raises:
        FileError: Others may read the file, it has no token, or it cannot be read or written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.path.lexists(file):
            _create(file)
    except OSError as error:
        raise FileError(f"{file} cannot be used for the token: {error.strerror}") from error
    return read_token(file)


def read_token(file: Path) -> str:
    """Return the token of a file.

    Raises:
        FileMissing: There is no such file.
        FileError: Others may read the file, it has no token, or it cannot be read.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            mode, content = os.fstat(descriptor).st_mode, stream.read(MAX_FILE_BYTES)
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {file}") from error
    except OSError as error:
        raise FileError(f"{file} cannot be used for the token: {error.strerror}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise FileError(f"others may read {file}; chmod 600 it, or delete it to get a new token")
    token = content.decode("ascii", "replace").strip()
    if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable():
        raise FileError(f"{file} has no token of {MIN_TOKEN_CHARS} characters; delete it to get a new one")
    return token


def _create(file: Path) -> None:
    """Write a new token, and give it its name only when it is whole. Only one of two processes succeeds."""
    draft = file.with_name(f"{file.name}-{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as new:
        new.write(secrets.token_urlsafe(MIN_TOKEN_CHARS))
    try:
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()
