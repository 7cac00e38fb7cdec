"""Whether other processes are at work, by the time they have had on a processor.

For processes of ours that say nothing while they work: one that reads a file from a slow disk, or computes a hash, is told
in this way from one that is stopped or waits for something that never comes.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from time import monotonic

POLL_INTERVAL_S = 20.0
"""Between two looks."""
SILENCE_LIMIT_S = 180.0
"""Without a sign for so long a process is taken for stuck. What it waits for itself, a server above all, has shorter limits."""


class ProcessActivity:
    """Of the processes that `pids` names; each time anew, since they start others. `idle` says whether they have nothing to do,
    so that nothing is expected of them."""

    def __init__(
        self,
        pids: Callable[[], Collection[int]],
        silence_s: float = SILENCE_LIMIT_S,
        idle: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._pids = pids
        self._idle = idle
        self._silence_s = silence_s
        self._clock = clock
        self._ticks: dict[int, int] = {}
        self._since = clock()

    def sign(self) -> None:
        """They have said something."""
        self._since = self._clock()

    def stuck(self) -> bool:
        """Whether they have given no sign for too long: look every `LOOK_S`."""
        ticks = {pid: cpu_ticks(pid) for pid in self._pids()}
        if ticks != self._ticks or self._idle():
            self._ticks = ticks
            self.sign()
        return self._clock() - self._since >= self._silence_s


def session_pids(leader: int) -> list[int]:
    """The processes of the session that a process leads, itself among them."""
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()] if Path("/proc").is_dir() else [leader]
    return [pid for pid in found if _fields(pid)[3:4] == [str(leader)]]


def cpu_ticks(pid: int) -> int:
    """The time a process and the children it has waited for have had, in the kernel's ticks; 0 for one that is gone."""
    return sum(map(int, _fields(pid)[11:15]))


def _fields(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on."""
    try:
        # the name of the program stands in brackets and may hold anything
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
