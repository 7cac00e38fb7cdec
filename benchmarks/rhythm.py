"""The times between the keys of somebody who writes a program: bursts at an even pace, and pauses between them.

The recorded edits have no times, so this is a model. That a pause of 2 to 15 seconds is one to think about the code
right there is how Shrestha et al. divide pauses ("Pausing While Programming: Insights From Keystroke Analysis",
ICSE-SEET 2022, their "micro" pauses); longer ones are left out, since nothing is typed in them. Where pauses are, how
often (`SHARES`) and that short ones are the likelier (half of them below 3 seconds) is assumed here, not measured.
"""

import random

SHORTEST, LONGEST = 2.0, 15.0
"""Seconds of a pause."""
TAIL = 1.7
"""Of the Pareto distribution the pauses are drawn from."""
BEGINNING, LINE, STATEMENT, WORD = 1.0, 0.4, 0.1, 0.02
"""Share of the places at which there is a pause: before an edit, after a line break, behind what opens or separates,
behind any other end of a word."""


class Rhythm:
    """Seconds before each key, the same for the same seed. Without `pauses` all keys come at the pace of a burst."""

    def __init__(self, keys_per_second: float, seed: int, *, pauses: bool = True) -> None:
        self.gap = 1 / keys_per_second
        self._pauses = pauses
        self._dice = random.Random(seed)

    def pause(self, written: str) -> float:
        """Return the pause beyond the gap at a place of an edit."""
        if not self._pauses or self._dice.random() >= share(written):
            return 0.0
        return min(LONGEST, SHORTEST * self._dice.paretovariate(TAIL))


def share(written: str) -> float:
    """Return the share of similar places at which there is a pause."""
    last = written.rstrip(" \t")[-1:]
    if not last:
        return BEGINNING if not written else 0.0
    if last == "\n":
        return LINE
    if last in "([{,;:=":
        return STATEMENT
    return 0.0 if written[-1].isalnum() or written[-1] == "_" else WORD
