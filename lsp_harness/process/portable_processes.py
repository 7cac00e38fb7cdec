"""The processes of a machine without /proc, as the library `psutil` tells them: macOS and Windows.

`process_table` chooses between this module and /proc. Linux needs no psutil, so it is imported in the functions.
"""

from collections.abc import Iterator
from contextlib import suppress

TICKS_PER_S = 100
"""Times are told in hundredths of a second, as the kernel of Linux does."""
STATES = {"stopped": "T", "tracing-stop": "t", "disk-sleep": "D", "zombie": "Z", "dead": "X"}
"""State of psutil → the letter of Linux. All others work or wait for work."""


def iterate_rows() -> Iterator[tuple[int, int, int, int]]:
    """Yield the number, the parent, the group and the start of each process that has not ended.

    The group is 0 where the system has none or does not tell it.
    """
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid, process.ppid(), _find_group(process.pid), _to_ticks(process.create_time())


def is_running(pid: int) -> bool:
    """Return whether there is a process with this number."""
    import psutil

    return psutil.pid_exists(pid)


def read_start(pid: int) -> int:
    """Return the start of a process in hundredths of a second, or 0 if it has ended."""
    import psutil

    with suppress(psutil.Error):
        return _to_ticks(psutil.Process(pid).create_time())
    return 0


def read_state(pid: int) -> str:
    """Return the letter of Linux for the state of a process. It is empty if the process has ended."""
    import psutil

    with suppress(psutil.Error):
        return STATES.get(psutil.Process(pid).status(), "S")
    return ""


def read_cpu_ticks(pid: int) -> int:
    """Return the processor time of a process in hundredths of a second, or 0 if it has ended."""
    import psutil

    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return _to_ticks(times.user + times.system)
    return 0


def read_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes, or 0 if it has ended."""
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(pid).memory_info().rss
    return 0


def read_variable(pid: int, name: str) -> str:
    """Return a variable in the environment of a process of this user. It is empty if it cannot be read."""
    import psutil

    with suppress(psutil.Error, OSError):
        return psutil.Process(pid).environ().get(name, "")
    return ""


def _find_group(pid: int) -> int:
    import os
    import sys

    if sys.platform != "win32":
        with suppress(OSError):
            return os.getpgid(pid)
    return 0


def _to_ticks(seconds: float) -> int:
    return round(seconds * TICKS_PER_S)
