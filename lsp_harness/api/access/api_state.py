"""The files by which programs of the user find the server: its address, its token, and the settings of curl.

All are in the runtime folder, which only the user can enter, and have mode 0600.
"""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.disk.ownership import is_private
from lsp_harness.errors import FileError, UsageError
from lsp_harness.process.process_table import is_alive

STATE_NAME, TOKEN_NAME, CURL_NAME = "api.json", "api-token", ".curlrc"
MIN_TOKEN_CHARS = 32


@dataclass(frozen=True, slots=True)
class ApiState:
    """The place of a running server.

    Attributes:
        pid: The id of the process.
        port: The port on which the server listens.
        token: The token of the user.
    """

    pid: int
    port: int
    token: str

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"


def make_api_folder() -> Path:
    """Return the private folder of the files."""
    return paths.make_private_folder(paths.runtime_folder() / "api")


def write_state(port: int) -> ApiState:
    """Write the files of a server that begins, with a new token. Raise FileError if they cannot be written.

    The token is valid as long as the server runs, so that an old one that leaked is worth nothing.
    """
    token, folder = secrets.token_urlsafe(32), make_api_folder()
    state = {"pid": os.getpid(), "port": port, "url": f"http://127.0.0.1:{port}"}
    try:
        write_own_file(folder / TOKEN_NAME, token.encode())
        # `CURL_HOME=folder curl …` needs no token in its arguments, which other users could read
        write_own_file(folder / CURL_NAME, f'header = "Authorization: Bearer {token}"\n'.encode())
        write_own_file(folder / STATE_NAME, json.dumps(state).encode())
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror}; make room there") from error
    return ApiState(os.getpid(), port, token)


def remove_state(state: ApiState) -> None:
    """Remove the files of a server that ends, if no other server has replaced them."""
    with suppress(FileError, OSError, UsageError):
        if read_state() == state:
            for name in (STATE_NAME, CURL_NAME, TOKEN_NAME):
                (make_api_folder() / name).unlink(missing_ok=True)


def read_state() -> ApiState:
    """Return the place of the running server.

    Raises:
        UsageError: No server runs, or its files are not private.
    """
    folder = paths.runtime_folder() / "api"
    try:
        for name in (STATE_NAME, TOKEN_NAME):
            status = (folder / name).lstat()
            if not is_private(folder / name, status):
                raise UsageError(f"{folder / name} can be read by others; remove it and start `lsp-harness api` again")
        state: Any = json.loads(read_text(folder / STATE_NAME))
        pid, port, token = int(state["pid"]), int(state["port"]), read_text(folder / TOKEN_NAME).strip()
    except (OSError, FileError, ValueError, KeyError, TypeError):
        raise UsageError("no server runs; start one with `lsp-harness api`") from None
    if len(token) < MIN_TOKEN_CHARS or not is_alive(pid):
        raise UsageError("no server runs; start one with `lsp-harness api`")
    return ApiState(pid, port, token)
