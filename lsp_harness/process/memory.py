"""What a process holds in memory, as the kernel says."""

import os
from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Bytes of resident memory; 0 for a process that is gone, and where the system has no /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
