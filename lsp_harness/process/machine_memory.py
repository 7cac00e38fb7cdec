"""The main memory of this machine."""

import os
import sys


def count_memory_bytes() -> int:
    """Return the bytes of main memory of this machine, or 0 if the system does not say."""
    if sys.platform == "win32":
        import psutil

        return psutil.virtual_memory().total
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
