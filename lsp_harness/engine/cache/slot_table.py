"""The slots of the KV cache: what each one holds, and which one a prompt can continue.

Sequences with a common prefix share its cells: the cache is a prefix tree whose leaves are the slots.
"""

from collections.abc import Sequence
from typing import Protocol

from lsp_harness.engine.cache.cached_sequence import ALL_TOKENS
from lsp_harness.engine.cache.cell_pool import CellPool
from lsp_harness.engine.cache.slot import Slot


class SequenceMemory(Protocol):
    """The operations of llama.cpp's memory that the cache needs."""

    def truncate(self, seq: int, length: int) -> bool: ...
    def copy(self, source: int, target: int, length: int, start: int = 0) -> None: ...


class SlotTable:
    """The slots, kept in step with llama.cpp's memory.

    Args:
        memory: The memory of the model.
        cells: Number of cells.
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
