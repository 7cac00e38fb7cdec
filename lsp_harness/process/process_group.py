"""Programs in groups of their own: how they are started, and how the whole group is ended.

On POSIX a group is a session. On Windows it is the tree of processes below the program: `psutil` finds it by the
parents, so a process whose parent has ended stays, until this process ends (`own_job`).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lsp_harness.process.priority import lower_priority
from lsp_harness.process.signals import KILL


def group_options(*, is_background: bool = False, prepare: Callable[[], None] | None = None) -> dict[str, Any]:
    """Return the options of `subprocess` that start a program in a group of its own.

    Args:
        is_background: Run it at a lower priority.
        prepare: Runs in the new process before the program, instead of `is_background`. It must take no lock. Windows
            has no such step.
    """
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        if is_background or prepare:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    options: dict[str, Any] = {"start_new_session": True}
    if prepare or is_background:
        options["preexec_fn"] = prepare or lower_priority
    return options


def detached_options() -> dict[str, Any]:
    """Return the options of `subprocess` that start a program which outlives this process."""
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_BREAKAWAY_FROM_JOB
        return {"creationflags": flags}
    return {"start_new_session": True}


def kill_leader_group(leader: int) -> None:
    """Kill the group that a program leads. Processes of other users, and ended ones, are left alone."""
    _signal_group(leader, KILL)


def terminate_leader_group(leader: int) -> None:
    """Ask the group that a program leads to end. Windows cannot ask, so it ends the processes there."""
    _signal_group(leader, signal.SIGTERM)


def _signal_group(leader: int, number: int) -> None:
    if sys.platform == "win32":
        import psutil

        with suppress(psutil.Error):
            process = psutil.Process(leader)
            for member in [*process.children(recursive=True), process]:
                with suppress(psutil.Error):
                    member.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
