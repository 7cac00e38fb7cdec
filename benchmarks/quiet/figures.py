"""Precision and recall, of being silent and of suggesting."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """Counts of scenarios: the first word is the right answer, the second the given one."""

    silent_silent: int = 0
    silent_shown: int = 0
    shown_silent: int = 0
    shown_shown: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[tuple[bool, bool]]) -> "Figures":
        """Count pairs of whether silence was right, and whether it was chosen."""
        pairs = list(outcomes)
        return cls(*(pairs.count((a, b)) for a in (True, False) for b in (True, False)))

    def row(self) -> str:
        silence = (
            _share_of_right(self.silent_silent, self.shown_silent),
            _share_of_right(self.silent_silent, self.silent_shown),
        )
        showing = (
            _share_of_right(self.shown_shown, self.silent_shown),
            _share_of_right(self.shown_shown, self.shown_silent),
        )
        return " | ".join(f"{value:.2f}" for value in (*silence, *showing))


HEAD = "silent: precision | recall | suggested: precision | recall"


def _share_of_right(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 0.0
