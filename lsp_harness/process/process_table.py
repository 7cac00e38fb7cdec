"""The processes of this machine: their parents, groups, sessions and environments.

They are read from /proc. On a system without it, `ps` lists the parents and groups.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


def resident_bytes(pid: int) -> int:
    """Return the resident memory in bytes. It is 0 if the process has ended or the system has no /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


PROC = Path("/proc")
PS_LIMIT_S = 5.0
PS_COMMAND = ("ps", "-A", "-o", "pid=,ppid=,pgid=,stat=")


class ProcessRow(NamedTuple):
    """A process that has not ended.

    Attributes:
        pid: The id of the process.
        parent: The number of its parent.
        group: The number of its process group.
        session: The number of its session, or 0 if the system does not tell it.
        started: Its start time in ticks of the kernel, or 0 if the system does not tell it.
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
    """Return the start of a process in ticks since the boot, or 0 if that is not known."""
    fields = stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def list_processes() -> list[ProcessRow]:
    """Return all processes that this process may see, without those that have ended and wait for their parent."""
    return list(_read_proc() if (PROC / "self").exists() else _read_ps())


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this number."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def environment_value(pid: int, name: str) -> str:
    """Return a variable in the environment with which a process was started. It is empty if it cannot be read."""
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


def _read_ps() -> Iterator[ProcessRow]:
    try:
        listed = subprocess.run(PS_COMMAND, capture_output=True, text=True, timeout=PS_LIMIT_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in listed.splitlines():
        fields = line.split()
        if len(fields) >= 4 and all(field.isdigit() for field in fields[:3]) and not fields[3].startswith("Z"):
            pid, parent, group = map(int, fields[:3])
            yield ProcessRow(pid, parent, group, 0, 0)
