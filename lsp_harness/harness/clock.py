"""The time of one harness, so that a test can replace it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


def call_later(delay_s: float, call: Callable[[], None]) -> None:
    """Call a function after a delay, on the running event loop."""
    asyncio.get_running_loop().call_later(delay_s, call)


@dataclass(frozen=True, slots=True)
class Clock:
    """The present time and a timer.

    Attributes:
        now_s: Returns the present time in seconds.
        call_later: Calls a function after a delay in seconds.
    """

    now_s: Callable[[], float] = monotonic
    call_later: Callable[[float, Callable[[], None]], None] = call_later
