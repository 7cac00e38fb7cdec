"""A local channel over a Unix socket: its file, and the program that the kernel sees behind it."""

import sys

assert sys.platform != "win32"

import asyncio
import os
import socket
import stat
import struct
from pathlib import Path

from lsp_harness.disk.channel_form import ChannelState, HttpAccess
from lsp_harness.disk.ownership import OTHERS

BACKLOG = 128
SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID = 0, 1, 2
"""Options of sockets of macOS."""
PEER_FORM = struct.Struct("3i")
"""The facts that Linux tells about the other end: process, user, group."""
MAC_PEER_FORM = struct.Struct("Iih2x16I")
"""The facts that macOS tells about the other end: version, user, groups."""


class UnixChannel:
    """A Unix socket with mode 0600."""

    token = ""

    def __init__(self, path: Path) -> None:
        self._path = path

    def listen(self) -> socket.socket:
        """Return a listening socket. See `LocalChannel`."""
        self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # the socket must never be open to others, not even for a moment
        mask = os.umask(0o177)
        try:
            listener.bind(str(self._path))
        except BaseException:
            listener.close()
            raise
        finally:
            os.umask(mask)
        listener.listen(BACKLOG)
        return listener

    async def connect(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the program that listens. See `LocalChannel`."""
        return await asyncio.open_unix_connection(str(self._path), limit=limit)

    def greeting(self) -> bytes:
        """Return nothing: the file keeps other users out."""
        return b""

    async def admits(self, reader: asyncio.StreamReader) -> bool:
        """Return true: the file keeps other users out."""
        return True

    def probe(self) -> ChannelState:
        """Return whether a program listens."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return self._connect(probe)

    def find_peer(self) -> int | None:
        """Return the number of the process that listens. See `LocalChannel`."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return _read_peer(probe)[0] if self._connect(probe) == "connected" else None

    def problem(self) -> str:
        """Return why a client must not connect; empty if it may.

        A socket of another user, or one that other users can use, could belong to a program that only looks like a
        server.
        """
        path = self._path
        try:
            info = path.lstat()
            folder = path.parent.stat()
        except OSError as error:
            return f"there is no socket {path} ({error.strerror or error})"
        if not stat.S_ISSOCK(info.st_mode):
            return f"{path} is not a socket"
        if info.st_uid != os.getuid():
            return f"{path} belongs to another user"
        if info.st_mode & OTHERS:
            return f"{path} can be used by other users; its mode must be 0600"
        if folder.st_uid not in (os.getuid(), 0) or (folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX):
            return f"other users can replace files in {path.parent}"
        return ""

    def peer_problem(self, connected: socket.socket) -> str:
        """Return why the program at the other end cannot be trusted; empty if it can.

        The file of the socket may have been replaced between the check of it and the connection.
        """
        user = _read_peer(connected)[1]
        return "" if user == os.getuid() else f"the program behind the socket belongs to user {user}"

    def http_access(self) -> HttpAccess:
        """Return how a client of HTTP gets to the program."""
        return HttpAccess(str(self._path), "http://engine", {})

    def _connect(self, probe: socket.socket) -> ChannelState:
        probe.setblocking(False)
        try:
            probe.connect(str(self._path))
        except BlockingIOError:
            return "full"
        except OSError:
            return "nobody"
        return "connected"


def _read_peer(connected: socket.socket) -> tuple[int, int]:
    """Return the numbers of the process and of the user at the other end of a socket."""
    if sys.platform == "linux":
        pid, user, _ = PEER_FORM.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER_FORM.size))
        return pid, user
    pid = connected.getsockopt(SOL_LOCAL, LOCAL_PEERPID)
    _, user, *_ = MAC_PEER_FORM.unpack(connected.getsockopt(SOL_LOCAL, LOCAL_PEERCRED, MAC_PEER_FORM.size))
    return pid, user
