"""The token that opens this user's engines over TCP: where it is stored, how it is created and read."""

from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.disk import token_file
from lsp_harness.errors import EngineUnavailable, FileError, FileMissing


def engine_token_file() -> Path:
    """Return the path of this user's token file."""
    return paths.runtime_folder() / "token"


def ensure_token() -> str:
    """Return this user's token, and create it when no engine has opened a port before.

    All engines of a user share one token.

    Raises:
        EngineUnavailable: The file holds no valid token, or other users can read it.
    """
    try:
        return token_file.ensure_token(engine_token_file())
    except FileError as error:
        raise EngineUnavailable(str(error)) from error


def read_token() -> str:
    """Return the token that an engine created before.

    Raises:
        FileMissing: No engine has created a token.
        EngineUnavailable: The file holds no valid token, or other users can read it.
    """
    try:
        return token_file.read_token(engine_token_file())
    except FileMissing:
        raise
    except FileError as error:
        raise EngineUnavailable(str(error)) from error
