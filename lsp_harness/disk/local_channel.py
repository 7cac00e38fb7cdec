"""The local channel: how programs of one user reach each other by the name of a file.

It is a Unix socket where the system has them, and else a port of this machine with a token (`loopback_channel`). The
file with the name of the channel decides who may use it: only this user can read it, or open it.
"""

import sys
from pathlib import Path

from lsp_harness.disk.channel_form import LocalChannel

if sys.platform == "win32":
    from lsp_harness.disk.loopback_channel import LoopbackChannel as _Channel
else:
    from lsp_harness.disk.unix_channel import UnixChannel as _Channel


def open_channel(path: Path) -> LocalChannel:
    """Return the channel with the name of a file. Nothing is created."""
    return _Channel(path)
