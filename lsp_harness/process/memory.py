"""The memory that a process uses, according to the kernel."""

import os
from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Return the resident memory in bytes. It is 0 if the process has ended or the system has no /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
