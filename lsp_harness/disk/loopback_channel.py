"""A local channel over a port of this machine, for systems without Unix sockets.

The file with the name of the channel holds the port, a token and the number of the process. Only this user can read it,
so only a program of this user knows the token. A program that connects without it is not admitted.
"""

import asyncio
import json
import os
import secrets
import socket
from hmac import compare_digest
from pathlib import Path
from typing import NamedTuple

from lsp_harness.disk.channel_form import ChannelState, HttpAccess
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.disk.ownership import is_private
from lsp_harness.errors import FileError

LOOPBACK_ADDRESS = "127.0.0.1"
BACKLOG = 128
TOKEN_BYTES = 32
GREETING_LIMIT_S = 5.0
"""Time for the greeting of a program that has connected."""
PROBE_LIMIT_S = 1.0
MAX_FILE_BYTES = 1000


class ChannelFile(NamedTuple):
    """The content of the file of a channel.

    Attributes:
        port: The port at which a program listens.
        token: The token that it asks for.
        pid: The number of its process.
    """

    port: int
    token: str
    pid: int


class LoopbackChannel:
    """A port of this machine, and the file that names it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.token = ""

    def listen(self) -> socket.socket:
        """Return a listening socket, and write its file. See `LocalChannel`."""
        listener = socket.create_server((LOOPBACK_ADDRESS, 0), backlog=BACKLOG)
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        content = {"port": listener.getsockname()[1], "token": self.token, "pid": os.getpid()}
        try:
            write_own_file(self._path, json.dumps(content).encode())
        except BaseException:
            listener.close()
            raise
        return listener

    def port(self) -> int:
        """Return the port that the file names. Raises OSError."""
        return self._read().port

    async def connect(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the program that listens. See `LocalChannel`."""
        return await asyncio.open_connection(LOOPBACK_ADDRESS, self._read().port, limit=limit)

    def greeting(self) -> bytes:
        """Return the token as a line. Raises OSError."""
        return f"{self._read().token}\n".encode()

    async def admits(self, reader: asyncio.StreamReader) -> bool:
        """Return whether the first line of a program is the token."""
        try:
            async with asyncio.timeout(GREETING_LIMIT_S):
                line = await reader.readline()
        except (TimeoutError, OSError, ValueError):
            return False
        return bool(self.token) and compare_digest(line.strip(), self.token.encode())

    def probe(self) -> ChannelState:
        """Return whether a program listens."""
        try:
            with socket.create_connection((LOOPBACK_ADDRESS, self._read().port), PROBE_LIMIT_S):
                return "connected"
        except TimeoutError:
            return "full"
        except OSError:
            return "nobody"

    def find_peer(self) -> int | None:
        """Return the number of the process that has written the file, if a program listens."""
        try:
            return self._read().pid if self.probe() == "connected" else None
        except OSError:
            return None

    def problem(self) -> str:
        """Return why a client must not connect; empty if it may."""
        try:
            status = self._path.lstat()
            self._read()
        except OSError as error:
            return f"there is no channel {self._path} ({error.strerror or error})"
        return "" if is_private(self._path, status) else f"{self._path} can be read by other users"

    def peer_problem(self, connected: socket.socket) -> str:
        """Return why the program at the other end cannot be trusted; empty if it can. The token shows that."""
        return ""

    def http_access(self) -> HttpAccess:
        """Return how a client of HTTP gets to the program. Raises OSError."""
        file = self._read()
        return HttpAccess(None, f"http://{LOOPBACK_ADDRESS}:{file.port}", {"Authorization": f"Bearer {file.token}"})

    def _read(self) -> ChannelFile:
        """Return the content of the file. Raises OSError."""
        try:
            content = json.loads(read_text(self._path, MAX_FILE_BYTES))
            file = ChannelFile(int(content["port"]), str(content["token"]), int(content["pid"]))
        except (FileError, ValueError, KeyError, TypeError) as error:
            raise FileNotFoundError(f"{self._path} names no port") from error
        if not 0 < file.port < 65_536 or not file.token.isascii() or not file.token:
            raise FileNotFoundError(f"{self._path} names no port")
        return file
