"""The local channel on which the server of a workspace folder serves sessions: its path.

The folder of the channel is that of `config.paths.runtime_folder`. This module repeats the rule, because a client may
load no settings.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from lsp_harness.disk.channel_form import LocalChannel
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.disk.temporary_place import APP, choose_temporary_place

SOCKET_VARIABLE = "LSP_HARNESS_SOCKET"


def socket_path(root: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of the socket for a workspace folder. `LSP_HARNESS_SOCKET` replaces it."""
    variables = os.environ if environment is None else environment
    if path := variables.get(SOCKET_VARIABLE):
        return Path(path)
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return runtime_base(variables) / f"sessions-{digest}.sock"


def session_channel(path: Path) -> LocalChannel:
    """Return the channel with the name of a socket."""
    return open_channel(path)


def runtime_base(environment: Mapping[str, str]) -> Path:
    """Return the folder of sockets. This function creates nothing."""
    if home := environment.get("LSP_HARNESS_HOME"):
        return Path(home).absolute() / "run"
    if base := environment.get("XDG_RUNTIME_DIR"):
        return Path(base) / APP
    return choose_temporary_place(environment)
