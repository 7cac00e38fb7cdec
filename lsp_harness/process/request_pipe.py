"""A request to a process of the same user, by the name of a file: a named pipe, or a port with a token on Windows."""

import asyncio
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path

from lsp_harness.disk.loopback_channel import LOOPBACK_ADDRESS, PROBE_LIMIT_S, LoopbackChannel
from lsp_harness.disk.opening import NO_WAIT, READING_AND_WRITING, WRITING, open_unlinked

PIECE_BYTES = 64
GREETING_BYTES = 200


class RequestPipe:
    """The end of the pipe at which requests arrive."""

    def __init__(self, path: Path, on_request: Callable[[], None]) -> None:
        """Listen in the running event loop.

        Args:
            path: The file. Only processes of the same user can open it.
            on_request: Called for each request.

        Raises:
            OSError: The file is there, or cannot be made.
        """
        self._path = path
        self._on_request = on_request
        self._loop = asyncio.get_running_loop()
        self._descriptor = -1
        self._serving: asyncio.Task[None] | None = None
        if sys.platform == "win32":
            channel = LoopbackChannel(path)
            listener = channel.listen()
            self._serving = self._loop.create_task(serve_requests(listener, channel.token, on_request))
            return
        os.mkfifo(path, 0o600)
        # it is open for writing too, so that it does not end when the first writer closes it
        self._descriptor = os.open(path, READING_AND_WRITING | NO_WAIT)
        self._loop.add_reader(self._descriptor, self._read)

    def close(self) -> None:
        """Stop listening, and remove the file."""
        if self._serving:
            self._serving.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._descriptor, PIECE_BYTES)
            self._on_request()


def send_request(path: Path) -> bool:
    """Send a request to the process that listens at a file. Return whether it listens."""
    if sys.platform == "win32":
        return send_greeting(path)
    try:
        # without a reader this fails at once
        descriptor = open_unlinked(path, WRITING | NO_WAIT)
    except OSError:
        return False
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode) and os.write(descriptor, b"s") == 1
    except OSError:
        return False
    finally:
        os.close(descriptor)


def remove_left(path: Path) -> None:
    """Remove the file of a process that was killed. Raises OSError."""
    status = path.lstat()
    if stat.S_ISREG(status.st_mode) if sys.platform == "win32" else stat.S_ISFIFO(status.st_mode):
        path.unlink()


async def serve_requests(listener: socket.socket, token: str, on_request: Callable[[], None]) -> None:
    """Call a function for each program that connects and sends the token of a loopback channel."""
    loop = asyncio.get_running_loop()
    listener.setblocking(False)
    with listener:
        while True:
            connected, _ = await loop.sock_accept(listener)
            with connected, suppress(OSError, TimeoutError):
                connected.setblocking(False)
                async with asyncio.timeout(PROBE_LIMIT_S):
                    line = await loop.sock_recv(connected, GREETING_BYTES)
                if compare_digest(line.strip(), token.encode()):
                    on_request()


def send_greeting(path: Path) -> bool:
    """Send the token of a loopback channel to the process that listens there. Return whether it listens."""
    try:
        channel = LoopbackChannel(path)
        with socket.create_connection((LOOPBACK_ADDRESS, channel.port()), PROBE_LIMIT_S) as connected:
            connected.sendall(channel.greeting())
    except OSError:
        return False
    return True
