"""The main memory of this machine."""

import ctypes
import os
import sys


def count_memory_bytes() -> int:
    """Return the bytes of main memory of this machine, or 0 if the system does not say."""
    if sys.platform == "win32":
        return _count_windows_memory()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


if sys.platform == "win32":

    class _MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total_physical", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 6),
        )

    def _count_windows_memory() -> int:
        status = _MemoryStatus()
        status.length = ctypes.sizeof(status)
        is_known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.total_physical) if is_known else 0
