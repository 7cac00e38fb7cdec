"""Sequences nobody works on just now: copied out of llama.cpp's cells into plain memory, and back when a prompt begins
like one.

Where attention is not fused, every step computes over all cells up to the last one that is used, whoever's they are:
with 7,600 of 8,192 cells used a step took twice as long as with 700. Copying 700 tokens out or back takes 3 ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from lsp_harness.engine.decode.cached_sequence import Held, common, leaving, thin
from lsp_harness.engine.decode.kv_cache import Kv, Slot

HOT = 2048
"""Cells in use up to which a step is little slower than over an empty cache."""


class Store(Protocol):
    """What llama.cpp can do with one sequence's state."""

    def state(self, seq: int) -> Any: ...
    def put(self, seq: int, state: Any) -> bool: ...


@dataclass(slots=True, eq=False)
class Parked(Held):
    """What a slot held; `state` is what its cells held."""

    state: Any = None


class Lot:
    """Parked sequences, `limit` tokens of them. `leaving` hears of each before it is given up."""

    LEAST = 16
    """Tokens that must be gained by moving a sequence."""

    def __init__(self, store: Store, limit: int, now: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._limit = limit
        self._now = now
        self.sequences: list[Parked] = []
        self.leaving: Callable[[Held], None] = lambda _: None
        self.lost = 0

    @property
    def used(self) -> int:
        """Tokens of all."""
        return sum(len(parked.tokens) for parked in list(self.sequences))

    @property
    def largest(self) -> int:
        """Tokens of the longest one."""
        return max((len(parked.tokens) for parked in self.sequences), default=0)

    def resident(self, prompt: Sequence[int], mover: str | None = None) -> int:
        """How many tokens of `prompt` need not be evaluated (see `Held.shared`)."""
        return max((parked.shared(prompt, mover) for parked in self.sequences), default=0)

    def fetch(
        self, kv: Kv, prompt: Sequence[int], client: str, *, mover: str | None = None, urgent: bool = False
    ) -> None:
        """Bring back what begins like `prompt`, if that is clearly more than what the cells hold of it."""
        found = [(parked.shared(prompt, mover), parked.used, parked) for parked in self.sequences]
        if not found:
            return
        length, _, parked = max(found, key=lambda entry: entry[:2])
        if length - kv.resident(prompt, mover) < self.LEAST:
            return
        # first, or it might be given up for those that make room for it
        self.sequences.remove(parked)
        slot = kv.vacant(client, len(parked.tokens), urgent=urgent)
        if slot is None:
            self.sequences.append(parked)
            self._fit(kv.slots)
        elif self._store.put(slot.seq, parked.state):
            kv.grow(slot, parked.tokens)
            # whose it is now is for him to say who takes it; it is used now, and thinned last
            parked.used = slot.used
            parked.tell(slot)
            thin(kv.slots)
        else:
            self.leaving(parked)
            self.lost += 1

    def take(self, slot: Slot, slots: Sequence[Slot]) -> None:
        """Park what `slot` is about to give up, unless others of `slots`, or parked ones, have nearly all of it."""
        size = len(slot.tokens)
        others = [
            *(other for other in slots if other is not slot and other.persist >= slot.persist),
            *(parked for parked in self.sequences if parked.persist >= slot.persist),
        ]
        if size < self.LEAST or any(_stands_for(other, slot) for other in others):
            return
        if size > self._limit or (state := self._copied(slot)) is None:
            self.leaving(slot)
            self.lost += 1
            return
        for parked in list(self.sequences):
            if slot.persist >= parked.persist and _stands_for(slot, parked):
                self.sequences.remove(parked)
        moved = Parked(list(slot.tokens), state=state)
        slot.tell(moved)
        self.sequences.append(moved)
        thin(self.sequences)
        self._fit([other for other in slots if other is not slot])

    def _copied(self, slot: Slot) -> Any:
        """What its cells hold; None when the machine has no memory for it."""
        try:
            return self._store.state(slot.seq)
        except MemoryError:
            return None

    def _fit(self, slots: Sequence[Slot]) -> None:
        """Give up what is too much. Who is at work shows in the cells, too."""
        held = [*self.sequences, *(slot for slot in slots if slot.tokens)]
        for parked in leaving(held, self._now()):
            if self.used <= self._limit:
                return
            if isinstance(parked, Parked):
                self.leaving(parked)
                self.sequences.remove(parked)
                self.lost += 1


def _stands_for(other: Held, held: Held) -> bool:
    """Whether `other` has all of `held`, for all who may have that, but what we rather lose than keep twice: an answer
    nobody took."""
    size, shared = len(held.tokens), common(held.tokens, other.tokens)
    as_pure = other.pure >= size or (other.client == held.client and other.pure >= held.pure)
    return as_pure and size - shared <= min(shared, Kv.LOSS)
