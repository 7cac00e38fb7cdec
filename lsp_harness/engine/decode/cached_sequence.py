"""A sequence that need not be evaluated again, wherever it is: in the cells, beside them, and who goes first.

The order of leaving is the same everywhere: clients that have been idle first, the newest sequence of each client at work
last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

ENDLESS = 2**31
IDLE = 60.0
"""Seconds after which a client is not at work any more."""
ROWS = 32
"""Rows of logits that are kept, each four bytes a token of the vocabulary."""


@dataclass(slots=True, eq=False)
class Held:
    """A sequence that need not be evaluated again, wherever it is, and what is known of it."""

    tokens: list[int] = field(default_factory=list[int])
    client: str = ""
    used: float = 0.0
    persist: bool = False
    """Everything in it may be written to disk."""
    stored: int = 0
    """So many of its tokens are on disk already."""
    rows: dict[int, Any] = field(default_factory=dict[int, Any])
    """By number of tokens: the logits these predict, where they were kept."""
    pure: int = ENDLESS
    """So many of its tokens were evaluated where they are. What comes after was moved, or evaluated after what was: it
    depends on more than the tokens before it."""

    def shared(self, prompt: Sequence[int], mover: str | None) -> int:
        """How many tokens it has in common with a prompt of client `mover`; of what was moved only its own client has
        something, and nobody (None) who wants the answer of a fresh evaluation."""
        return min(common(self.tokens, prompt), self.open_to(mover))

    def open_to(self, mover: str | None) -> int:
        """How many of its tokens are there for `mover`."""
        return len(self.tokens) if mover == self.client else min(len(self.tokens), self.pure)

    def tell(self, other: "Held") -> None:
        """Let `other`, which holds the same tokens, know all that is known of this one."""
        other.client, other.used = self.client, self.used
        other.persist, other.stored, other.pure = self.persist, self.stored, self.pure
        other.rows = dict(self.rows)


H = TypeVar("H", bound=Held)


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the common prefix."""
    limit = min(len(a), len(b))
    low = 0
    # compare whole slices first: prompts usually share all but their tail
    while low < limit:
        step = limit - low
        while step and a[low : low + step] != b[low : low + step]:
            step //= 2
        if not step:
            break
        low += step
    return low


def leaving(held: Sequence[H], now: float) -> list[H]:
    """Sequences in the order in which they should go: those of clients that were idle first, the newest one of each
    client at work last."""
    newest: dict[str, H] = {}
    for one in held:
        if one.client not in newest or one.used >= newest[one.client].used:
            newest[one.client] = one

    def rank(one: H) -> tuple[bool, bool, float]:
        latest = newest[one.client]
        at_work = latest.used >= now - IDLE
        return at_work, at_work and latest is one, one.used

    return sorted(held, key=rank)


def thin(held: Sequence[Held]) -> None:
    """Keep `ROWS` rows of logits, those of what was used last."""
    left = ROWS
    for one in sorted(held, key=lambda one: -one.used):
        one.rows = {size: one.rows[size] for size in sorted(one.rows)[:left]}
        left -= len(one.rows)
