"""The end of another process: SIGTERM first, SIGKILL after a grace time, and never a later process with the same number.

A number of a process can be given to another one once its owner is gone. So a process is opened first (a pidfd, or its
start time where the system has none), then the caller makes sure that it is the right one, and only then it is signalled.
"""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Literal

Ending = Literal["", "terminated", "killed"]
"""How a process ended; empty for one that is still there."""
KILL_WAIT_S = 5.0
"""How long a process is waited for after SIGKILL: one that waits for a disk or a driver does not end before that is back."""
POLL_INTERVAL_S = 0.02
STOPPED_STATES = ("T", "t")
STATE_TEXTS = {
    "T": "stopped by a signal",
    "t": "stopped by a debugger",
    "D": "waiting for a disk or a driver",
    "Z": "ended",
}


class OpenProcess:
    """A process by its number. Raises ProcessLookupError where there is none."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = -1
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            raise
        except (AttributeError, OSError):
            # an older kernel, or no Linux
            os.kill(pid, 0)
        self._started = start_time(pid)

    def send(self, number: int) -> None:
        """Send a signal; nothing happens where the process is gone. Raises PermissionError."""
        with suppress(ProcessLookupError):
            if self._descriptor >= 0:
                signal.pidfd_send_signal(self._descriptor, number)
            elif not self.gone():
                os.kill(self.pid, number)

    def gone(self) -> bool:
        """Whether it has ended; a process that nobody has waited for yet has ended, too."""
        return start_time(self.pid) != self._started or process_state(self.pid) in ("", "Z")

    async def ended(self, within_s: float) -> bool:
        """Wait for its end; whether it came in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                if self._descriptor >= 0:
                    await _readable(self._descriptor)
                else:
                    while not self.gone():  # noqa: ASYNC110 - no event tells of the end of somebody else's child
                        await asyncio.sleep(POLL_INTERVAL_S)
                return True
        return False

    async def end(self, grace_s: float, kill_s: float = KILL_WAIT_S) -> Ending:
        """SIGTERM, after `grace_s` SIGKILL. Raises PermissionError."""
        self.send(signal.SIGTERM)
        # a process that is stopped takes no signal but SIGKILL; one that went on would answer whom it has kept waiting
        if process_state(self.pid) not in STOPPED_STATES and await self.ended(grace_s):
            return "terminated"
        self.send(signal.SIGKILL)
        return "killed" if await self.ended(kill_s) else ""

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def start_time(pid: int) -> str:
    """When a process began, in the kernel's own units; empty for one that is gone, and where the system has no /proc."""
    return _stat(pid, 21)


def process_state(pid: int) -> str:
    """The letter that the kernel has for what a process does; empty for one that is gone."""
    return _stat(pid, 2)


def describe_state(pid: int) -> str:
    """What keeps a process from working, in words; empty where the kernel sees nothing."""
    return STATE_TEXTS.get(process_state(pid), "")


def _stat(pid: int, field: int) -> str:
    try:
        # the name of the program stands in brackets and may hold anything
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[field - 2]
    except (OSError, IndexError):
        return ""


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(descriptor, lambda: readable.done() or readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
