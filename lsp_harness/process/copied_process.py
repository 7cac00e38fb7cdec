"""Copies of a process: whether this system starts a process as a copy of one that is ready (`fork`).

On macOS libraries of the system may crash in a copy, and Windows has none. There, each process starts with an
interpreter of its own.
"""

import multiprocessing
import sys
from collections.abc import Sequence

HAS_COPIES = sys.platform == "linux"
START_METHOD = "forkserver" if HAS_COPIES else "spawn"
"""The way in which `multiprocessing` starts a process."""


def start_server(modules: Sequence[str]) -> None:
    """Start the server that copies itself for each new process, with modules that it has imported."""
    if sys.platform != "win32":
        from multiprocessing import forkserver

        multiprocessing.set_forkserver_preload(list(modules))
        forkserver.ensure_running()
