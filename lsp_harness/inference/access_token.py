"""The token that opens this user's engines over TCP: where it is stored, how it is created and read."""

import os
import secrets
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.ownership import is_closed
from lsp_harness.errors import EngineUnavailable, FileError, FileMissing

MIN_TOKEN_CHARS = 32
"""Characters. A file with fewer was cut off while it was written."""


def token_file() -> Path:
    """Return the path of this user's token file."""
    return paths.runtime_folder() / "token"


def ensure_token() -> str:
    """Return this user's token, and create it when no engine has opened a port before.

    All engines of a user share one token.
    """
    file = token_file()
    if not os.path.lexists(file):
        draft = file.with_name(f"token-{os.getpid()}")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(32))
        try:
            # if two engines start at once, only one link succeeds
            os.link(draft, file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return read_token()


def read_token() -> str:
    """Return the token that an engine created before.

    Raises:
        FileMissing: No engine has created a token.
        EngineUnavailable: The file holds no valid token, or other users can read it.
    """
    file = token_file()
    try:
        private = is_closed(file, file.lstat())
        content = read_text(file) if private else ""
    except FileMissing:
        raise
    except (FileError, OSError) as error:
        if not os.path.lexists(file):
            raise FileMissing(f"there is no file {file}") from error
        content = ""
    if len(content) < MIN_TOKEN_CHARS:
        raise EngineUnavailable(
            f"{file} holds no token that only you can read; delete it, and the engine makes a new one"
        )
    return content
