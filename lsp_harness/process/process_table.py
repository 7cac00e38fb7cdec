"""The processes of this machine: their parents, groups, sessions and environments.

They are read from /proc. On a system without it, `portable_processes` asks the system.
"""

import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lsp_harness.process import portable_processes

HAS_PROC = sys.platform == "linux"
PROC = Path("/proc")


def resident_bytes(pid: int) -> int:
    """Return the resident memory in bytes. It is 0 if the process has ended."""
    if not HAS_PROC:
        return portable_processes.read_memory(pid)
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * mmap.PAGESIZE


class ProcessRow(NamedTuple):
    """A process that has not ended.

    Attributes:
        pid: The id of the process.
        parent: The number of its parent.
        group: The number of its process group, or 0 if the system has no groups.
        session: The number of its session, or 0 if the system does not tell it.
        started: Its start time in ticks of the kernel.
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int


def stat_fields(pid: int) -> list[str]:
    """Return the fields of `/proc/PID/stat` from the state on. The list is empty for a process that has ended."""
    try:
        # the program name is in parentheses and may contain any character
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def start_ticks(pid: int) -> int:
    """Return the start of a process in ticks, since the boot on Linux. It is 0 for a process that has ended."""
    if not HAS_PROC:
        return portable_processes.read_start(pid)
    fields = stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def list_processes() -> list[ProcessRow]:
    """Return all processes that this process may see, without those that have ended and wait for their parent."""
    if HAS_PROC:
        return list(_read_proc())
    return [
        ProcessRow(pid, parent, group, 0, started) for pid, parent, group, started in portable_processes.iterate_rows()
    ]


def list_group(leader: int) -> list[ProcessRow]:
    """Return the processes of the group and the session of a leader. Without groups, those below it count."""
    rows = list_processes()
    if sys.platform != "win32":
        return [row for row in rows if leader in (row.session, row.group)]
    members = {leader}
    while found := {row.pid for row in rows if row.parent in members and row.pid not in members}:
        members |= found
    return [row for row in rows if row.pid in members]


def process_state(pid: int) -> str:
    """Return the letter of the kernel for the state of a process. It is empty if the process has ended."""
    if not HAS_PROC:
        return portable_processes.read_state(pid)
    return "".join(stat_fields(pid)[:1])


def cpu_ticks(pid: int) -> int:
    """Return the processor time of a process and the children it has waited for, in ticks of the kernel.

    It is 0 for a process that has ended.
    """
    if not HAS_PROC:
        return portable_processes.read_cpu_ticks(pid)
    return sum(map(int, stat_fields(pid)[11:15]))


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this number."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        # `os.kill` with 0 would send Ctrl-C there
        return portable_processes.is_running(pid)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def environment_value(pid: int, name: str) -> str:
    """Return a variable in the environment with which a process was started. It is empty if it cannot be read."""
    if not HAS_PROC:
        return portable_processes.read_variable(pid, name)
    start = f"{name}=".encode()
    with suppress(OSError):
        for part in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
            if part.startswith(start):
                return part[len(start) :].decode(errors="replace")
    return ""


def _read_proc() -> Iterator[ProcessRow]:
    for entry in os.listdir(PROC):
        if not entry.isdigit():
            continue
        fields = stat_fields(int(entry))
        if len(fields) > 19 and fields[0] not in ("Z", "X"):
            yield ProcessRow(int(entry), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))
