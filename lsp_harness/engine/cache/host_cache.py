"""Idle sequences, copied out of llama.cpp's cells into host memory and copied back when a prompt continues one.

Without fused attention, every decode step computes over all cells up to the last one in use, whichever sequence owns
them: with 7,600 of 8,192 cells in use a step took twice as long as with 700. Copying 700 tokens out or back takes 3 ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from lsp_harness.engine.cache.cached_sequence import (
    CachedSequence,
    common_prefix_length,
    drop_old_logits,
    sort_for_eviction,
)
from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.slot_table import Slot

FAST_CELLS = 2048
"""Cells in use up to which a step is little slower than with an empty cache."""


class StateMemory(Protocol):
    """The operations of llama.cpp's memory that copy the state of one sequence."""

    def read_state(self, seq: int) -> Any: ...
    def load_state(self, seq: int, state: Any) -> bool: ...


@dataclass(slots=True, eq=False)
class HostSequence(CachedSequence):
    """A sequence in host memory. `state` is a copy of its cells."""

    state: Any = None


class HostCache:
    """The sequences in host memory.

    Args:
        memory: The memory of the model.
        max_tokens: Number of tokens that all sequences may have together.
        now: The clock, in seconds.
    """

    MIN_GAIN_TOKENS = 16
    """Tokens that copying a sequence must save at least."""

    def __init__(self, memory: StateMemory, max_tokens: int, now: Callable[[], float] = monotonic) -> None:
        self._memory = memory
        self._max_tokens = max_tokens
        self._now = now
        self.sequences: list[HostSequence] = []
        self.on_evict: Callable[[CachedSequence], None] = lambda _: None
        """Called with each sequence before it is dropped."""
        self.eviction_count = 0

    @property
    def used_tokens(self) -> int:
        """Number of tokens of all sequences."""
        return sum(len(sequence.tokens) for sequence in list(self.sequences))

    @property
    def longest_tokens(self) -> int:
        """Number of tokens of the longest sequence."""
        return max((len(sequence.tokens) for sequence in self.sequences), default=0)

    def cached_length(self, prompt: Sequence[int], shift_client: str | None = None) -> int:
        """Return how many tokens of `prompt` need no evaluation (see `CachedSequence.shared_length`)."""
        return max((sequence.shared_length(prompt, shift_client) for sequence in self.sequences), default=0)

    def restore(
        self, kv: KvCache, prompt: Sequence[int], client: str, *, shift_client: str | None = None, urgent: bool = False
    ) -> None:
        """Copy the best sequence back to the cells if `prompt` shares clearly more with it than with the cells.

        Args:
            kv: The cells of the KV cache.
            prompt: The tokens of the request.
            client: The client that sent the request.
            shift_client: The client if it accepts moved tokens, else None.
            urgent: Whether the request may take the spare cells and slots.
        """
        matches = [
            (sequence.shared_length(prompt, shift_client), sequence.last_used_s, sequence)
            for sequence in self.sequences
        ]
        if not matches:
            return
        length, _, sequence = max(matches, key=lambda match: match[:2])
        if length - kv.cached_length(prompt, shift_client) < self.MIN_GAIN_TOKENS:
            return
        # It leaves the list first, or it could be evicted for the sequences that make room for it in the cells.
        self.sequences.remove(sequence)
        slot = kv.find_empty_slot(client, len(sequence.tokens), urgent=urgent)
        if slot is None:
            self.sequences.append(sequence)
            self._evict_excess(kv.slots)
        elif self._memory.load_state(slot.seq, sequence.state):
            kv.append(slot, sequence.tokens)
            # The owner stays; `KvCache.acquire` sets the new one. The time of use keeps its logits from being dropped.
            sequence.last_used_s = slot.last_used_s
            sequence.copy_metadata_to(slot)
            drop_old_logits(kv.slots)
        else:
            self.on_evict(sequence)
            self.eviction_count += 1

    def store(self, slot: Slot, slots: Sequence[Slot]) -> None:
        """Copy the sequence of `slot`, which is about to be evicted.

        Nothing is copied if another of `slots` or a sequence of this cache has nearly all of it.
        """
        size = len(slot.tokens)
        others = [
            *(other for other in slots if other is not slot and other.persist >= slot.persist),
            *(sequence for sequence in self.sequences if sequence.persist >= slot.persist),
        ]
        if size < self.MIN_GAIN_TOKENS or any(_can_replace(other, slot) for other in others):
            return
        if size > self._max_tokens or (state := self._read_state(slot)) is None:
            self.on_evict(slot)
            self.eviction_count += 1
            return
        for sequence in list(self.sequences):
            if slot.persist >= sequence.persist and _can_replace(slot, sequence):
                self.sequences.remove(sequence)
        copied = HostSequence(list(slot.tokens), state=state)
        slot.copy_metadata_to(copied)
        self.sequences.append(copied)
        drop_old_logits(self.sequences)
        self._evict_excess([other for other in slots if other is not slot])

    def _read_state(self, slot: Slot) -> Any:
        """Return a copy of the cells of `slot`, or None if the machine has no memory for it."""
        try:
            return self._memory.read_state(slot.seq)
        except MemoryError:
            return None

    def _evict_excess(self, slots: Sequence[Slot]) -> None:
        """Drop sequences until the limit is kept. `slots` also show which clients are active."""
        occupied = [*self.sequences, *(slot for slot in slots if slot.tokens)]
        for sequence in sort_for_eviction(occupied, self._now()):
            if self.used_tokens <= self._max_tokens:
                return
            if isinstance(sequence, HostSequence):
                self.on_evict(sequence)
                self.sequences.remove(sequence)
                self.eviction_count += 1


def _can_replace(other: CachedSequence, sequence: CachedSequence) -> bool:
    """Return whether `other` serves everyone whom `sequence` serves.

    It may lack a short end, which usually is an answer that nobody accepted.
    """
    size, shared = len(sequence.tokens), common_prefix_length(sequence.tokens, other.tokens)
    is_same_client = other.client == sequence.client
    serves_same_clients = other.unmoved_tokens >= size or (
        is_same_client and other.unmoved_tokens >= sequence.unmoved_tokens
    )
    return serves_same_clients and size - shared <= min(shared, KvCache.MAX_DISCARDED_TOKENS)
