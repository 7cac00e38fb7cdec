"""Signals of child processes."""

import signal


def reset_signals() -> None:
    """Give a new process the default actions, because `nohup` and background jobs of a shell let it ignore signals."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
