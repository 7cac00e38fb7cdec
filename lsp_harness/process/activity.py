"""Detection of stuck processes by the processor time that they use.

Some of our processes write no output while they work, for example while they read a file from a slow disk or compute a
hash. Their processor time distinguishes them from a process that is stopped or waits forever.
"""

from collections.abc import Callable, Collection
from time import monotonic

from lsp_harness.process.process_table import cpu_ticks, list_group

POLL_INTERVAL_S = 20.0
"""Time between two checks."""
SILENCE_LIMIT_S = 180.0
"""Time without a sign of life after which a process counts as stuck.

It is longer than the limits of what such a process waits for itself, above all a server.
"""


class ProcessActivity:
    """The signs of life of a group of processes."""

    def __init__(
        self,
        pids: Callable[[], Collection[int]],
        silence_s: float = SILENCE_LIMIT_S,
        is_idle: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Begin to observe the processes.

        Args:
            pids: Returns the numbers of the processes. It is called at each check, because processes start others.
            silence_s: Time without a sign of life after which the processes count as stuck.
            is_idle: Returns whether the processes have nothing to do, so that no sign of life is expected.
            clock: Returns a time in seconds.
        """
        self._pids = pids
        self._is_idle = is_idle
        self._silence_s = silence_s
        self._clock = clock
        self._ticks: dict[int, int] = {}
        self._last_sign = clock()

    def record_sign(self) -> None:
        """Record a sign of life, such as a line of output."""
        self._last_sign = self._clock()

    def is_stuck(self) -> bool:
        """Return whether there was no sign of life for too long. Call it every `POLL_INTERVAL_S`."""
        ticks = {pid: cpu_ticks(pid) for pid in self._pids()}
        if ticks != self._ticks or self._is_idle():
            self._ticks = ticks
            self.record_sign()
        return self._clock() - self._last_sign >= self._silence_s


def session_pids(leader: int) -> list[int]:
    """Return the numbers of the processes in the session of a session leader, including the leader."""
    return [row.pid for row in list_group(leader)]
