"""The priority of processes in the background, so that they take no processor time from the user.

Linux kernels with autogroups (most desktops) share the processor between sessions first, and between the processes of
one session after that. In a session of its own, a process with `SCHED_IDLE` takes as much time as the engine.
See sched(7), "The autogroup feature".
"""

import os
import sys
import time

BACKGROUND_NICENESS = 5
"""The niceness of checks, tasks, agents and the index. Beside one other session, such a session gets a quarter of the
time: the user waits for them, too, but not at each key."""
AUTOGROUP_FILE = "/proc/self/autogroup"
LOWEST_PRIORITY = 19
RETRY_S = 0.11
"""Time between two tries. The kernel takes one new niceness of a session in 0.1 s, from all users together."""


def lower_priority(niceness: int = BACKGROUND_NICENESS, *, tries: int = 1) -> None:
    """Lower the priority of this process, and that of its session if it leads one.

    It takes no lock, so that it may run between the start of a process and that of its program.

    Args:
        niceness: From 1 to 19, the lowest priority.
        tries: How often to try to lower the priority of the session, with 0.11 s between two tries.
    """
    if sys.platform == "win32":
        # a program gets its priority when it is started (`process_group`), and this process keeps its own
        return
    os.nice(niceness)
    if os.getsid(0) != os.getpid():
        # it would change the priority of other programs of the user
        return
    for number in range(tries):
        if number:
            time.sleep(RETRY_S)
        if _write_niceness(niceness):
            return


def take_idle_time() -> None:
    """Let this process run only when no other one wants the processor, as far as the system can say so."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    elif sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS)
    else:
        os.nice(LOWEST_PRIORITY)


def _write_niceness(niceness: int) -> bool:
    """Set the niceness of the session. Return whether another try makes no sense."""
    try:
        descriptor = os.open(AUTOGROUP_FILE, os.O_WRONLY)
        try:
            os.write(descriptor, str(niceness).encode())
        finally:
            os.close(descriptor)
    except BlockingIOError:
        return False
    except OSError:
        # no such feature, or no right to use it
        pass
    return True
