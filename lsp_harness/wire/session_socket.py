"""The Unix socket on which the server of a workspace folder serves sessions: its path, and whether it can be trusted.

The folder of the socket is that of `config.paths.runtime_folder`. This module repeats the rule, because a client may
load no settings.
"""

import hashlib
import os
import socket
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

APP = "lsp-harness"
SOCKET_VARIABLE = "LSP_HARNESS_SOCKET"


def socket_path(root: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of the socket for a workspace folder. `LSP_HARNESS_SOCKET` replaces it."""
    variables = os.environ if environment is None else environment
    if path := variables.get(SOCKET_VARIABLE):
        return Path(path)
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return runtime_base(variables) / f"sessions-{digest}.sock"


def runtime_base(environment: Mapping[str, str]) -> Path:
    """Return the folder of sockets. This function creates nothing."""
    if home := environment.get("LSP_HARNESS_HOME"):
        return Path(home).absolute() / "run"
    if base := environment.get("XDG_RUNTIME_DIR"):
        return Path(base) / APP
    return Path(environment.get("TMPDIR") or "/tmp") / f"{APP}-{os.getuid()}"


def socket_problem(path: Path) -> str:
    """Return why a client must not connect to a socket; empty if it may.

    A socket of another user, or one that other users can use, could belong to a program that only looks like a server.
    """
    try:
        info = path.lstat()
        folder = path.parent.stat()
    except OSError as error:
        return f"there is no socket {path} ({error.strerror or error})"
    if not stat.S_ISSOCK(info.st_mode):
        return f"{path} is not a socket"
    if info.st_uid != os.getuid():
        return f"{path} belongs to another user"
    if info.st_mode & 0o077:
        return f"{path} can be used by other users; its mode must be 0600"
    if folder.st_uid not in (os.getuid(), 0) or (folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX):
        return f"other users can replace files in {path.parent}"
    return ""


def peer_problem(connected: socket.socket) -> str:
    """Return why the program at the other end of a Unix socket cannot be trusted; empty if it can.

    The file of the socket may have been replaced between the check of it and the connection.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        # only Linux tells it this way; elsewhere the mode of the file must do
        return ""
    form = struct.Struct("3i")
    _, user, _ = form.unpack(connected.getsockopt(socket.SOL_SOCKET, option, form.size))
    return "" if user == os.getuid() else f"the program behind the socket belongs to user {user}"
