"""What the trees of a text may cost.

Time is the processor's time of the thread that parses, so that a busy machine costs no trees.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

LARGEST_TEXT = 2_000_000
"""Bytes of a text that is parsed at all."""


class TooCostly(Exception):
    """There is no tree within the budget; the message says why."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one text. What costs more has no tree."""

    key_s: float = 0.02
    """Seconds of a parse on the event loop, while everything else waits."""
    text_s: float = 0.15
    """Seconds of a parse in a thread of its own, or by a caller that waits for it."""
    edit_s: float = 0.02
    """Seconds of an edit from which on the next ones are not worth it: reusing the nodes of a tree cannot be ended early."""
    nodes: int = 100_000
    """Nodes of a tree: queries, and freeing it, take time by their number and cannot be ended early."""
    depth: int = 5_000
    width: int = 3_000
    """Children of a node that the grammar gave up on: a query looks at each of them for each of them."""
    query_s: float = 0.05
    """Seconds of a query over the whole tree."""
    gate_s: float = 0.06
    """Seconds in which it is judged whether a text may be inserted, all its cuts and endings together."""


BUDGET = Budget()
FILE_BUDGET = Budget(text_s=2.0, nodes=2_000_000)
"""For a file that is parsed once, in a process or a thread that nobody waits for: an index takes larger files than an editor does."""


class Allowance:
    """Processor time that one or several parses share. It begins with the first use, on the thread that uses it."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end: float | None = None
        self._cancelled = False

    @property
    def spent(self) -> bool:
        """Whether nothing is left of it."""
        if self._cancelled:
            return True
        now = self.clock()
        if self._end is None:
            self._end = now + self.seconds
        return now >= self._end

    def cancel(self) -> None:
        """Take away the rest; from any thread."""
        self._cancelled = True

    def check(self) -> None:
        """Raises TooCostly."""
        if self.spent:
            raise TooCostly(f"parsing takes more than {self.seconds * 1000:.0f} ms")
