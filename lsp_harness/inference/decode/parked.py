"""Sequences nobody works on just now: copied out of llama.cpp's cells into plain memory, and back when a prompt begins
like one.

Where attention is not fused, every step computes over all cells up to the last one that is used, whoever's they are:
with 7,600 of 8,192 cells used a step took twice as long as with 700. Copying 700 tokens out or back takes 3 ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from lsp_harness.inference.decode.kv import Kv, Slot, common, leaving

HOT = 2048
"""Cells in use up to which a step is little slower than over an empty cache."""


class Store(Protocol):
    """What llama.cpp can do with one sequence's state."""

    def state(self, seq: int) -> Any: ...
    def put(self, seq: int, state: Any) -> bool: ...


@dataclass(slots=True, eq=False)
class Parked:
    """What a slot held, and what its cells held."""

    tokens: list[int]
    state: Any
    client: str
    used: float
    persist: bool
    stored: int
    logits: Any
    at: int


class Lot:
    """Parked sequences, `limit` tokens of them. `leaving` hears of each before it is given up."""

    LEAST = 16
    """Tokens that must be gained by moving a sequence."""

    def __init__(self, store: Store, limit: int, now: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._limit = limit
        self._now = now
        self.sequences: list[Parked] = []
        self.leaving: Callable[[Parked], None] = lambda _: None
        self.lost = 0

    def resident(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` need not be evaluated."""
        return max((common(parked.tokens, prompt) for parked in self.sequences), default=0)

    def fetch(self, kv: Kv, prompt: Sequence[int], client: str) -> None:
        """Bring back what begins like `prompt`, if that is clearly more than what the cells hold of it."""
        found = [(common(parked.tokens, prompt), parked.used, parked) for parked in self.sequences]
        if not found:
            return
        length, _, parked = max(found, key=lambda entry: entry[:2])
        if length - kv.resident(prompt) < self.LEAST:
            return
        slot = kv.vacant(client, len(parked.tokens))
        # making room may have parked others, and given this one up for them
        if slot is None or parked not in self.sequences:
            return
        self.sequences.remove(parked)
        if not self._store.put(slot.seq, parked.state):
            self.lost += 1
            return
        kv.grow(slot, parked.tokens)
        slot.persist, slot.stored = parked.persist, parked.stored
        slot.logits, slot.at = parked.logits, parked.at

    def take(self, slot: Slot, slots: Sequence[Slot]) -> None:
        """Park what `slot` is about to give up, unless others of `slots`, or parked ones, have nearly all of it."""
        size = len(slot.tokens)
        others = [*(other.tokens for other in slots if other is not slot), *(p.tokens for p in self.sequences)]
        if size < self.LEAST or any(common(other, slot.tokens) > size - self.LEAST for other in others):
            return
        for parked in list(self.sequences):
            if common(parked.tokens, slot.tokens) > len(parked.tokens) - self.LEAST:
                # this one continues it
                self.sequences.remove(parked)
        self.sequences.append(
            Parked(
                list(slot.tokens),
                self._store.state(slot.seq),
                slot.client,
                slot.used,
                slot.persist,
                slot.stored,
                slot.logits,
                slot.at,
            )
        )
        self._fit()

    def _fit(self) -> None:
        tokens = sum(len(parked.tokens) for parked in self.sequences)
        for parked in leaving(self.sequences, self._now()):
            if tokens <= self._limit:
                return
            tokens -= len(parked.tokens)
            self.leaving(parked)
            self.sequences.remove(parked)
            self.lost += 1
