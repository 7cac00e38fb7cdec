"""The end of a command by a signal: its tools and the log still end in order."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from lsp_harness.process.signals import ENDING_SIGNALS, handle_signal

END_WAIT_S = 4.5
"""Time for the tools and the log to end after a signal. Then the process ends in any case."""


class Termination:
    """Ends the work of a command when a signal comes. `is_requested` tells whether one came."""

    def __init__(self, numbers: Sequence[signal.Signals] = ENDING_SIGNALS) -> None:
        self._numbers = numbers
        self._number: signal.Signals | None = None

    @property
    def is_requested(self) -> bool:
        """Return whether a signal has come."""
        return self._number is not None

    async def guard(self, work: Coroutine[Any, Any, int]) -> int:
        """Do the work, and return its exit status, or that of a process that the signal has ended."""
        working = asyncio.ensure_future(work)

        def terminate(number: signal.Signals) -> None:
            if self._number is None:
                self._number = number
                # a client that does not read its frames, or a tool that does not end, must not keep the process
                timer = threading.Timer(END_WAIT_S, os._exit, (128 + number,))
                timer.daemon = True
                timer.start()
                working.cancel()

        for number in self._numbers:
            # a command that was started with nohup goes on
            if signal.getsignal(number) != signal.SIG_IGN:
                handle_signal(asyncio.get_running_loop(), number, partial(terminate, number))
        try:
            return await working
        except asyncio.CancelledError:
            if self._number is None:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
                raise
            return 128 + self._number
