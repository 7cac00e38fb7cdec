"""Drafts from the text of the prompt: the tokens that followed the last few tokens at an earlier place.

An edit mostly repeats its original, so these tokens are likely to come again. The batch that evaluates a draft also
verifies it. A draft decides when tokens come. Which ones come only depends on it by the rounding of a larger batch, if
two tokens are nearly as likely.
"""

from collections.abc import Callable, Sequence


class PromptLookup:
    """The drafts of one candidate.

    Args:
        step_cost: The time of a decode step over n tokens, in any unit.
    """

    GRAM_TOKENS = 3
    """Number of last tokens that are looked up."""
    DRAFT_LENGTHS = (2, 3, 5, 7, 11, 15)
    """Lengths that are considered. With the token before them they are batch sizes at which CPUs are efficient."""
    INITIAL_ACCEPT_RATE = 0.9
    """Assumed share of accepted tokens. The rate slowly returns to it while there are no drafts."""
    MAX_MATCH_TOKENS = 16
    """Number of tokens that are compared at most at the two places."""
    MIN_SPEEDUP = 1.05
    """A longer draft must give so many times the tokens per time."""

    def __init__(self, step_cost: Callable[[int], float]) -> None:
        self._step_cost = step_cost
        self._places: dict[tuple[int, ...], list[int]] = {}
        """End positions of each group of `GRAM_TOKENS` tokens."""
        self._indexed_tokens = 0
        self._last_place = 0
        """The end of the text that the last draft repeated."""
        self._accept_rate = self.INITIAL_ACCEPT_RATE

    def draft(self, tokens: Sequence[int], max_tokens: int) -> list[int]:
        """Return up to `max_tokens` tokens that are likely to follow `tokens`, or none if a draft would cost time."""
        for end in range(max(self._indexed_tokens, self.GRAM_TOKENS), len(tokens)):
            # The last group is left out because it is the one that is looked up.
            self._places.setdefault(tuple(tokens[end - self.GRAM_TOKENS : end]), []).append(end)
        self._indexed_tokens = max(self._indexed_tokens, len(tokens))
        self._accept_rate += 0.02 * (self.INITIAL_ACCEPT_RATE - self._accept_rate)
        places = self._places.get(tuple(tokens[-self.GRAM_TOKENS :]))
        if not places or len(tokens) < self.GRAM_TOKENS:
            return []
        # A copied text usually goes on where it was, so the first place from there on is preferred.
        place = next((p for p in places if p >= self._last_place), places[-1])
        equal = self.GRAM_TOKENS
        while equal < min(self.MAX_MATCH_TOKENS, place) and tokens[place - equal - 1] == tokens[-equal - 1]:
            equal += 1
        # The more tokens before the two places are equal, the likelier the next ones are.
        rate = (self._accept_rate + 1 - 0.5 / (equal - 1)) / 2
        size = self._best_length(min(max_tokens, len(tokens) - place), rate)
        if size:
            self._last_place = place
        return list(tokens[place : place + size])

    def record(self, drafted: int, accepted: int) -> None:
        """Record how many tokens of the last draft were accepted."""
        self._last_place += accepted
        tried = min(drafted, accepted + 1)
        if tried:
            self._accept_rate += (1 - 0.85**tried) * (accepted / tried - self._accept_rate)
        self._accept_rate = min(0.97, max(0.05, self._accept_rate))

    def _best_length(self, max_tokens: int, rate: float) -> int:
        """Return the length that gives most tokens per time if each token is accepted with probability `rate`."""
        best, length = 1 / self._step_cost(1), 0
        for n in self.DRAFT_LENGTHS:
            if n > max_tokens:
                break
            expected_tokens = sum(rate**i for i in range(n + 1))
            if (speed := expected_tokens / self._step_cost(n + 1)) > best * self.MIN_SPEEDUP:
                best, length = speed, n
        return length
