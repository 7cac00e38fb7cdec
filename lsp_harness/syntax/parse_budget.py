"""Limits of the time and the size of syntax trees.

Time is the processor time of the parsing thread, so that a busy machine does not use up the budget.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

MAX_TEXT_BYTES = 2_000_000
"""A larger text is not parsed at all."""


class ParseBudgetExceeded(Exception):
    """The failure that no tree can be made within the budget.

    The message gives the reason, as a clause about the text ("it is larger than …").
    """


@dataclass(frozen=True, slots=True)
class ParseBudget:
    """The limits for one text. A text that exceeds them has no tree."""

    keystroke_s: float = 0.02
    """Seconds for a parse on the event loop, which blocks all other requests."""
    text_s: float = 0.15
    """Seconds for a parse in a thread of its own, or by a caller that waits for it."""
    edit_s: float = 0.02
    """If an incremental parse takes longer, the next edits do not reuse the tree: tree-sitter cannot be interrupted
    while it reuses nodes."""
    max_nodes: int = 100_000
    """Nodes of a tree. The time for queries and for freeing the tree grows with this number, and neither can be
    interrupted."""
    max_depth: int = 5_000
    """Levels of a tree."""
    max_error_children: int = 3_000
    """Children of one ERROR node. The time of a query grows with the square of this number."""
    query_s: float = 0.05
    """Seconds for one query over the whole tree."""
    gate_s: float = 0.06
    """Seconds for the decision whether a text may be inserted, including all its cuts and endings."""


BUDGET = ParseBudget()
FILE_BUDGET = ParseBudget(text_s=2.0, max_nodes=2_000_000)
"""The budget for a file that is parsed once, in a process or thread that no request waits for. An index takes larger
files than an editor.
"""


class Allowance:
    """Processor time that one or several parses share.

    It starts to run at its first use, on the thread that uses it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end: float | None = None
        self._is_cancelled = False

    @property
    def is_spent(self) -> bool:
        """Return whether no time is left."""
        if self._is_cancelled:
            return True
        now = self.clock()
        if self._end is None:
            self._end = now + self.seconds
        return now >= self._end

    def cancel(self) -> None:
        """Take away the remaining time. May be called from any thread."""
        self._is_cancelled = True

    def check(self) -> None:
        """Raise ParseBudgetExceeded if no time is left."""
        if self.is_spent:
            raise ParseBudgetExceeded(f"parsing takes more than {self.seconds * 1000:.0f} ms")
