"""The time that a question to the index may take."""

from collections.abc import Callable
from time import monotonic


class TimeLimit:
    """A moment after which the rest of an answer is of no use. It begins to run when it is created."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def is_over(self) -> bool:
        return self._clock() >= self._end
