"""Termination of another process: SIGTERM first, and SIGKILL after a grace time.

The system can give the number of an ended process to a new process. So the caller opens the process first (by a pidfd,
or by its start time if the system has no pidfd), then checks that it is the right one, and only then sends a signal.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import Literal

from lsp_harness.process.process_table import is_alive, process_state, start_ticks
from lsp_harness.process.signals import KILL

Ending = Literal["", "terminated", "killed"]
"""How a process ended. It is empty for a process that still runs."""
KILL_WAIT_S = 5.0
"""Maximum wait after SIGKILL. A process that waits for a disk or a driver does not end before that answers."""
POLL_INTERVAL_S = 0.02
STOPPED_STATES = ("T", "t")
STATE_TEXTS = {
    "T": "stopped by a signal",
    "t": "stopped by a debugger",
    "D": "waiting for a disk or a driver",
    "Z": "ended",
}


class OpenProcess:
    """A process by its number. Raises ProcessLookupError if there is no such process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = _open_pidfd(pid)
        self._started = start_time(pid)

    def send_signal(self, number: int) -> None:
        """Send a signal. Nothing happens if the process has ended. Raises PermissionError."""
        with suppress(ProcessLookupError):
            if sys.platform == "linux" and self._descriptor >= 0:
                signal.pidfd_send_signal(self._descriptor, number)
            elif not self.has_ended():
                os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return whether the process has ended. A process that nobody has waited for yet counts as ended."""
        return start_time(self.pid) != self._started or process_state(self.pid) in ("", "Z")

    async def wait_for_end(self, limit_s: float) -> bool:
        """Wait until the process has ended. Return whether it ended in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                if self._descriptor >= 0:
                    await _wait_readable(self._descriptor)
                else:
                    while not self.has_ended():  # noqa: ASYNC110 - this is not our child, so no event reports its end
                        await asyncio.sleep(POLL_INTERVAL_S)
                return True
        return False

    async def terminate(self, grace_s: float, kill_s: float = KILL_WAIT_S) -> Ending:
        """Send SIGTERM, and SIGKILL after `grace_s`. Raises PermissionError.

        Args:
            grace_s: Time for the process to end after SIGTERM.
            kill_s: Maximum wait after SIGKILL.
        """
        self.send_signal(signal.SIGTERM)
        # a stopped process handles no signal but SIGKILL
        if process_state(self.pid) not in STOPPED_STATES and await self.wait_for_end(grace_s):
            return "terminated"
        self.send_signal(KILL)
        return "killed" if await self.wait_for_end(kill_s) else ""

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def start_time(pid: int) -> str:
    """Return the start time of a process in units of the kernel.

    It is empty if the process has ended.
    """
    return str(start_ticks(pid) or "")


def describe_state(pid: int) -> str:
    """Return in words what stops a process from working. It is empty if nothing stops it."""
    return STATE_TEXTS.get(process_state(pid), "")


def _open_pidfd(pid: int) -> int:
    """Return a descriptor of a process, or -1 if the system has none. Raises ProcessLookupError."""
    if sys.platform == "linux":
        try:
            return os.pidfd_open(pid)
        except ProcessLookupError:
            raise
        except (AttributeError, OSError):
            # an old kernel, or a Python that was built for one
            pass
    if not is_alive(pid):
        raise ProcessLookupError
    return -1


async def _wait_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(descriptor, lambda: readable.done() or readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
