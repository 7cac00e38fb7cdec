"""Limits of the time of this process, after which the system ends it: also while a library never returns.

Windows counts no time of the processor for this. There, a thread of the interpreter watches the clock and ends the
process. It needs no lock of the interpreter, but it also counts the time in which the process waits for a core.
"""

import sys

if sys.platform == "win32":
    import faulthandler
    import os

    CLOCK_FACTOR = 10
    """Seconds of the clock for each second of the processor: other programs may take most of the cores."""
    _silence = os.open(os.devnull, os.O_WRONLY)
else:
    import resource
    import signal


def end_after(seconds: float) -> None:
    """End this process after so many seconds of the processor. With 0, take the limit back."""
    if sys.platform == "win32":
        _watch_clock(seconds)
    else:
        # the signal has no handler, so that it ends the process
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def limit_further_time(seconds: int) -> None:
    """End this process when it has used so many further seconds of the processor. A new limit replaces the last one."""
    if sys.platform == "win32":
        _watch_clock(seconds)
    else:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _watch_clock(seconds: float) -> None:
    if sys.platform == "win32":
        faulthandler.cancel_dump_traceback_later()
        if seconds:
            faulthandler.dump_traceback_later(seconds * CLOCK_FACTOR, exit=True, file=_silence)
