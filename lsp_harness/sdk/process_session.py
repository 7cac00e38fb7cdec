"""The process session of a child: all processes that it started, whatever group they are in.

A child is started as the leader of a new session. A signal to its group would miss the jobs that a shell of a tool put
into groups of their own. The engine and the index process leave the session on purpose: other programs share them, and
they end when they are idle. So nothing outside of the session is ended.
"""

import atexit
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
if sys.platform == "win32":
    # it ends a process at once there
    KILL = signal.SIGTERM
    SESSION_OPTIONS = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    KILL = signal.SIGKILL
    SESSION_OPTIONS = {"start_new_session": True}
"""The options of `subprocess` that start a child as the leader of a session. Windows has groups for Ctrl-C only."""
EXIT_GRACE_S = 1.0
"""Time between SIGTERM and SIGKILL when the interpreter ends."""
MAX_SWEEPS = 20
"""The most searches for members. A process can start another one while it is searched for."""


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    session: int
    started: str


@dataclass(frozen=True, slots=True)
class ProcessSession:
    """A session by the number of its leader and the time when that started, because numbers are given again.

    `parent` is the process that started the leader.
    """

    leader: int
    started: str
    parent: int = 0

    @classmethod
    def of_leader(cls, pid: int) -> "ProcessSession":
        """Return the session of a child that was started with `start_new_session`."""
        stat = _read_stat(pid)
        session = cls(pid, stat.started if stat else "", os.getpid())
        live_sessions.add(session)
        return session

    def members(self) -> list[int]:
        """Return the processes of the session that still run."""
        if sys.platform == "win32":
            return self._tree()
        if not PROC.joinpath("self", "stat").exists():
            return self._group()
        stats = {int(name): stat for name in os.listdir(PROC) if name.isdecimal() and (stat := _read_stat(int(name)))}
        leader = stats.get(self.leader)
        if leader and leader.started != self.started:
            # while the session has a member, no other process gets the number of the leader
            return []
        return [pid for pid, stat in stats.items() if stat.session == self.leader and stat.state not in "ZX"]

    def _group(self) -> list[int]:
        """Return the leader if its group exists. It is all that systems without /proc tell cheaply."""
        if sys.platform != "win32":
            with suppress(OSError):
                os.killpg(self.leader, 0)
                return [-self.leader]
        return []

    def _tree(self) -> list[int]:
        """Return the processes below the leader, and the leader, as far as Windows knows the parents."""
        import psutil

        with suppress(psutil.Error):
            leader = psutil.Process(self.leader)
            return [*(process.pid for process in leader.children(recursive=True)), self.leader]
        return []

    def send_signal(self, number: int) -> None:
        """Send a signal to all processes of the session."""
        for pid in self.members():
            with suppress(OSError):
                os.kill(pid, number)

    def terminate_leader(self) -> None:
        """Send SIGTERM to the leader, which ends its own children."""
        stat = _read_stat(self.leader)
        # a number that was given again is not our child; without /proc, the number is all that is known
        if not self.started or (stat and stat.started == self.started):
            with suppress(OSError):
                os.kill(self.leader, signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to all processes of the session, until none is left."""
        for _ in range(MAX_SWEEPS):
            if not self.members():
                break
            self.send_signal(KILL)
        live_sessions.discard(self)


live_sessions: set[ProcessSession] = set()
"""The sessions that are open."""


def kill_all() -> None:
    """End the sessions that are still open when the interpreter ends. A fork of it leaves them to its parent."""
    own = [session for session in live_sessions if session.parent == os.getpid()]
    for session in own:
        session.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + EXIT_GRACE_S
    while any(session.members() for session in own) and time.monotonic() < deadline:
        time.sleep(0.01)
    for session in own:
        session.kill()


atexit.register(kill_all)


def _read_stat(pid: int) -> _Stat | None:
    """Return the state of a process, or None if it has ended."""
    try:
        text = PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # the name of the program comes before and may have blanks and parentheses
    values = text.rpartition(")")[2].split()
    return _Stat(values[0], int(values[3]), values[19]) if len(values) > 19 else None
