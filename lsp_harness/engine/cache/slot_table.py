"""The slots of the KV cache: what each one holds, their cells, and which slot a prompt can continue.

Sequences with a common prefix share its cells: the cache is a prefix tree whose leaves are the slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lsp_harness.engine.cache.cached_sequence import ALL_TOKENS, CachedSequence

PLACEHOLDER_TOKEN = -1
"""Stands for a token in a staging slot. No prompt contains it, so no prompt continues a staging slot."""


@dataclass(slots=True, eq=False)
class Slot(CachedSequence):
    """A sequence in the KV cache. `cells[i]` holds the evaluation of `tokens[i]`."""

    seq: int = 0
    """The sequence number in llama.cpp."""
    cells: list[int] = field(default_factory=list[int])
    is_busy: bool = False
    """Whether a request in progress uses the slot."""
    reserved_tokens: int = 0
    """Number of tokens to which the sequence may grow while it is busy."""
    pending_forks: int = 0
    """Number of slots that will still branch off this one."""
    tokens_per_fork: int = 0
    """Number of tokens by which each of these slots may grow."""
    staged_tokens: int = 0
    """Number of tokens of this sequence that wait in a staging slot and thus need no further cells."""

    @property
    def is_staging(self) -> bool:
        """True if the slot holds moved cells that wait for their place in a prompt (see `KvCache.acquire_staging`)."""
        return self.tokens[:1] == [PLACEHOLDER_TOKEN]

    @property
    def reserved_cells(self) -> int:
        """Number of cells the request in progress may still take."""
        if not self.is_busy:
            return 0
        own = max(0, self.reserved_tokens - len(self.tokens) - self.staged_tokens)
        return own + self.pending_forks * self.tokens_per_fork


class CellPool:
    """The cells and the number of references to each. A cell that several sequences share is in use once.

    Args:
        size: Number of cells.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = list(range(size))
        """The free cells. Other modules only read the number of them."""
        self._references = [0] * size

    @property
    def used(self) -> int:
        """Number of cells in use."""
        return self.size - len(self.free)

    def allocate(self, count: int) -> list[int]:
        """Take `count` free cells. The caller makes sure that there are as many."""
        free, references = self.free, self._references
        cells: list[int] = []
        for _ in range(count):
            cell = free.pop()
            references[cell] = 1
            cells.append(cell)
        return cells

    def share(self, cells: Sequence[int]) -> None:
        """Count one more sequence that uses `cells`."""
        for cell in cells:
            self._references[cell] += 1

    def release(self, cells: Sequence[int]) -> None:
        """Count one sequence less that uses `cells`, and free those that none uses."""
        for cell in cells:
            self._references[cell] -= 1
            if not self._references[cell]:
                self.free.append(cell)


class SequenceMemory(Protocol):
    """The operations of llama.cpp's memory that the cache needs."""

    def truncate(self, seq: int, length: int) -> bool: ...
    def copy(self, source: int, target: int, length: int, start: int = 0) -> None: ...


class SlotTable:
    """The slots, kept in step with llama.cpp's memory.

    Args:
        memory: The memory of the model.
        cells: Number of cells of the KV cache.
        slots: Number of slots.
        can_truncate: Whether the memory can drop the end of a sequence. Without it only whole sequences are shared.
    """

    def __init__(self, memory: SequenceMemory, cells: int, slots: int, *, can_truncate: bool) -> None:
        self.can_truncate = can_truncate
        self.slots = [Slot(seq=seq) for seq in range(slots)]
        self._memory = memory
        self._cells = CellPool(cells)

    @property
    def used_cells(self) -> int:
        """Number of cells in use."""
        return self._cells.used

    @property
    def sequences(self) -> list[Slot]:
        """The slots whose sequence a prompt can continue."""
        return [slot for slot in list(self.slots) if slot.tokens and not slot.is_staging]

    def cached_length(self, prompt: Sequence[int], shift_client: str | None = None) -> int:
        """Return how many tokens of `prompt` need no evaluation (see `CachedSequence.shared_length`)."""
        return max((slot.shared_length(prompt, shift_client) for slot in self.slots), default=0)

    def longest_match(self, prompt: Sequence[int], shift_client: str | None) -> tuple[Slot, int]:
        """Return the slot that shares most with `prompt`, and how many tokens.

        Among equals an idle slot is preferred, then one that has the logits after all of `prompt`.
        """
        size = len(prompt)
        matches = [
            (
                slot.shared_length(prompt, shift_client),
                not slot.is_busy,
                size in slot.logits_rows,
                slot.last_used_s,
                slot,
            )
            for slot in self.slots
        ]
        best = max(matches, key=lambda match: match[:4])
        return best[4], best[0]

    def share_prefix(self, source: Slot, target: Slot, length: int) -> None:
        """Let the empty slot `target` share the first `length` tokens of `source`."""
        if not length or not (self.can_truncate or length == len(source.tokens)):
            return
        self._memory.copy(source.seq, target.seq, length)
        target.tokens = source.tokens[:length]
        target.cells = source.cells[:length]
        target.persist = source.persist
        target.stored_tokens = min(source.stored_tokens, length)
        target.unmoved_tokens = source.unmoved_tokens if source.unmoved_tokens < length else ALL_TOKENS
        self._cells.share(target.cells)

    def truncate(self, slot: Slot, length: int) -> None:
        """Keep the first `length` tokens of `slot`, or none if the memory cannot be truncated."""
        if length >= len(slot.tokens):
            return
        if not self._memory.truncate(slot.seq, length) and length:
            self._memory.truncate(slot.seq, 0)
            length = 0
        self._cells.release(slot.cells[length:])
        del slot.tokens[length:], slot.cells[length:]
        slot.stored_tokens = min(slot.stored_tokens, length)
        slot.unmoved_tokens = slot.unmoved_tokens if slot.unmoved_tokens < length else ALL_TOKENS
        slot.logits_rows = {size: row for size, row in slot.logits_rows.items() if size <= length}

    def attach_staged(self, slot: Slot, staging: Slot, start: int, tokens: Sequence[int]) -> None:
        """Append `tokens` to `slot`. Their cells are those of `staging` from its cell `start` on."""
        position, cells = len(slot.tokens), staging.cells[start : start + len(tokens)]
        self._memory.copy(staging.seq, slot.seq, position + len(tokens), position)
        slot.unmoved_tokens = min(slot.unmoved_tokens, position)
        slot.tokens += tokens
        slot.cells += cells
        self._cells.share(cells)

    def clear(self, slot: Slot) -> None:
        """Drop the sequence of an idle slot."""
        self.truncate(slot, 0)
        slot.persist = False
