"""Checkpoints of sequences whose end cannot be dropped: hybrid and recurrent models.

The state of such a model after n tokens contains all of them in a fixed number of bytes, so that the last one cannot be
taken out again. A checkpoint is a copy of that state at a place where later prompts branch off. A prompt that differs
from a sequence continues from the last checkpoint before the difference. The layers with attention, if there are any,
need no copy: their cells are cut at the same place.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from lsp_harness.engine.cache.slot_table import Slot

INTERVAL_TOKENS = 128
"""Tokens between two checkpoints of a prompt. Each prompt has one at its end as well, where the next key goes on."""
MAX_SLOT_CHECKPOINTS = 10
RECENT_CHECKPOINTS = 3
"""The ends of so many of the last prompts are kept in any case."""
MAX_TOTAL_BYTES = 256 * 2**20
"""Bytes of all checkpoints together."""


class CheckpointMemory(Protocol):
    """The operations of llama.cpp's memory that checkpoints need."""

    def truncate(self, seq: int, length: int) -> bool: ...
    def read_checkpoint(self, seq: int) -> Any: ...
    def load_checkpoint(self, seq: int, state: Any) -> bool: ...


class SequenceCheckpoints:
    """The checkpoints of all slots, within `MAX_TOTAL_BYTES`.

    Args:
        memory: The memory of the model.
        slots: All slots of the cache. Each of them gets an empty set of checkpoints.
    """

    def __init__(self, memory: CheckpointMemory, slots: Sequence[Slot]) -> None:
        self._memory = memory
        self._slots = slots
        for slot in slots:
            slot.checkpoints = {}

    @property
    def total_bytes(self) -> int:
        """Return the bytes of all checkpoints. A state that several sequences share is counted once."""
        states = {id(state): len(state) for slot in self._slots for state in (slot.checkpoints or {}).values()}
        return sum(states.values())

    def keep(self, slot: Slot, *, is_end: bool) -> None:
        """Keep the state after the tokens of a slot, if the last checkpoint is far enough away.

        Args:
            slot: The slot, whose tokens are all evaluated.
            is_end: Whether the prompt ends here, so that the state is kept in any case.
        """
        length, checkpoints = len(slot.tokens), slot.checkpoints
        if not length or checkpoints is None or length in checkpoints:
            return
        if not is_end and length - max(checkpoints, default=0) < INTERVAL_TOKENS:
            return
        checkpoints[length] = self._memory.read_checkpoint(slot.seq)
        if len(checkpoints) > MAX_SLOT_CHECKPOINTS:
            del checkpoints[_find_crowded(sorted(checkpoints))]
        self._drop_excess(slot)

    def cut(self, slot: Slot, length: int) -> int:
        """Cut a sequence at its last checkpoint within `length` tokens. Return the number of tokens that it has then.

        The sequence in llama.cpp's memory may have more tokens than the slot, for example after an aborted step.
        """
        place = slot.cut_length(length)
        state = (slot.checkpoints or {}).get(place)
        is_cut = (
            state is not None
            and self._memory.load_checkpoint(slot.seq, state)
            and self._memory.truncate(slot.seq, place)
        )
        if is_cut:
            return place
        self._memory.truncate(slot.seq, 0)
        return 0

    def _drop_excess(self, kept: Slot) -> None:
        """Drop checkpoints of the slots that were used longest ago, but not the newest one of `kept`."""
        if self.total_bytes <= MAX_TOTAL_BYTES:
            return
        for slot in sorted(self._slots, key=lambda slot: (slot is kept, slot.last_used_s)):
            for length in sorted(slot.checkpoints or {}):
                if slot is kept and length == len(slot.tokens):
                    continue
                (slot.checkpoints or {}).pop(length)
                if self.total_bytes <= MAX_TOTAL_BYTES:
                    return


def _find_crowded(lengths: Sequence[int]) -> int:
    """Return the checkpoint that the others miss least: the one with the smallest distance between its neighbours.

    The last `RECENT_CHECKPOINTS` are never returned: the next key continues there, or a little before, if it changes
    the last token.
    """
    gaps = {
        length: following - before
        for before, length, following in zip((0, *lengths), lengths, lengths[1:], strict=False)
    }
    return min(lengths[:-RECENT_CHECKPOINTS], key=lambda length: gaps[length])
