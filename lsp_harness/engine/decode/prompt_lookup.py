"""Drafts from the prompt's own text: what followed the last few tokens where they stood before.

An edit mostly repeats its original, so the tokens after such a place are likely to come again. A draft is verified in
the batch that evaluates it: it changes when tokens come, never which.
"""

from collections.abc import Callable, Sequence


class Lookup:
    """Guesses for one candidate. `cost(n)` is the time of a decode step over n tokens, in any unit."""

    GRAM = 3
    SIZES = (2, 3, 5, 7, 11, 15)
    """Draft lengths that are tried; with the token itself they are the batch sizes that CPUs are good at."""

    HOPE = 0.9
    """The share of right guesses that is assumed before there are any, and come back to when there are none."""
    LONG = 16

    def __init__(self, cost: Callable[[int], float]) -> None:
        self._cost = cost
        self._places: dict[tuple[int, ...], list[int]] = {}
        self._seen = 0
        self._near = 0
        self._rate = self.HOPE

    def draft(self, tokens: Sequence[int], most: int) -> list[int]:
        """Up to `most` tokens that may follow `tokens`; none where it would not pay."""
        for end in range(max(self._seen, self.GRAM), len(tokens)):
            # the places before the end: the last gram itself is what is looked for
            self._places.setdefault(tuple(tokens[end - self.GRAM : end]), []).append(end)
        self._seen = max(self._seen, len(tokens))
        self._rate += 0.02 * (self.HOPE - self._rate)
        places = self._places.get(tuple(tokens[-self.GRAM :]))
        if not places or len(tokens) < self.GRAM:
            return []
        # a copy goes on where it was: the first place at or after the last one
        place = next((p for p in places if p >= self._near), places[-1])
        alike = self.GRAM
        while alike < min(self.LONG, place) and tokens[place - alike - 1] == tokens[-alike - 1]:
            alike += 1
        # the longer two places are alike, the likelier they go on alike
        rate = (self._rate + 1 - 0.5 / (alike - 1)) / 2
        size = self._size(min(most, len(tokens) - place), rate)
        if size:
            self._near = place
        return list(tokens[place : place + size])

    def learn(self, drafted: int, accepted: int) -> None:
        """How much of the last draft was right."""
        self._near += accepted
        tried = min(drafted, accepted + 1)
        if tried:
            self._rate += (1 - 0.85**tried) * (accepted / tried - self._rate)
        self._rate = min(0.97, max(0.05, self._rate))

    def _size(self, most: int, rate: float) -> int:
        """The length with the best tokens per time when each guess is right with probability `rate`."""
        best, size = 1 / self._cost(1), 0
        for n in self.SIZES:
            if n > most:
                break
            expected = sum(rate**i for i in range(n + 1))
            if (value := expected / self._cost(n + 1)) > best * 1.05:
                best, size = value, n
        return size
