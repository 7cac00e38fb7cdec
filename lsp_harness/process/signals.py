"""The signals by which programs are ended, and how this process gets them, on each system.

Windows knows no signals between programs: SIGTERM, which ends a program at once, takes the place of SIGKILL, and a
window that is closed sends SIGBREAK. An event loop there gets signals by the handlers of the interpreter.
"""

import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # the command line imports this module first
    import asyncio

if sys.platform == "win32":
    KILL = signal.SIGTERM
    ENDING_SIGNALS = (signal.SIGTERM, signal.SIGBREAK)
    EXIT_CLOSED = 1
else:
    KILL = signal.SIGKILL
    """The signal that ends any process."""
    ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
    """Signals that end a command in order. The second one comes when the terminal is closed."""
    EXIT_CLOSED = 128 + signal.SIGPIPE
    """Exit status if the reader of the output has ended, as `head` does."""


def handle_signal(loop: "asyncio.AbstractEventLoop", number: signal.Signals, handle: Callable[[], object]) -> None:
    """Call a function in an event loop when a signal comes."""
    if sys.platform == "win32":

        def pass_on(*_: object) -> None:
            loop.call_soon_threadsafe(handle)

        signal.signal(number, pass_on)
    else:
        loop.add_signal_handler(number, handle)


def list_terminating(number: int) -> tuple[int, ...]:
    """Return the signals that make a process end in order: a stopped one handles them only after SIGCONT."""
    if sys.platform == "win32":
        return (number,)
    return number, signal.SIGCONT
