"""Orders to the kernel of Linux about this process: its end with its parent, and the adoption of orphans.

Other systems have no such orders. On macOS the supervisor watches its parent, and Windows has jobs
(`own_job`). They take no lock, so that they may be given between the start of a process and that of its program.
"""

import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
if sys.platform == "linux":
    import ctypes

    _prctl = getattr(ctypes.CDLL(None), "prctl", None)
else:
    _prctl = None


def end_with_parent(parent: int, end: Callable[[], object]) -> None:
    """Let this process get SIGTERM when its parent ends, if the kernel can.

    Args:
        parent: The number of the parent.
        end: Called if the parent has ended already.
    """
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        end()


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end, if the kernel can."""
    if _prctl:
        _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
