"""Which token sequences are resident in the KV cache, and which of them a new prompt continues.

Pure book-keeping over a `Memory` that can cut and copy sequences, so that it can be tested without a model. A prompt
continues the resident sequence it shares the longest prefix with: in place when little of it would be lost, else in
another slot that shares the common cells. The least recently used slot makes room.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lsp_harness.errors import EngineBusy, EngineRefused


class Memory(Protocol):
    """What llama.cpp's memory can do for us."""

    def cut(self, seq: int, length: int) -> bool: ...
    def copy(self, source: int, target: int, length: int) -> None: ...


@dataclass(slots=True)
class Slot:
    """A resident sequence; `tokens` are evaluated, position for position."""

    seq: int
    tokens: list[int] = field(default_factory=list[int])
    used: int = 0
    busy: bool = False
    need: int = 0
    """Cells promised to the request that keeps it busy."""

    @property
    def cells(self) -> int:
        return max(self.need, len(self.tokens)) if self.busy else len(self.tokens)


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


class Kv:
    """`cells` tokens in all, over `slots` sequences."""

    LOSS = 256
    """Tokens we rather lose than occupy another slot: what a completion generated and nobody accepted."""

    def __init__(self, memory: Memory, *, cells: int, slots: int) -> None:
        self._memory = memory
        self._cells = cells
        self._clock = 0
        self.slots = [Slot(seq) for seq in range(slots)]

    def take(self, prompt: Sequence[int], extra: int) -> Slot:
        """A busy slot whose tokens are a proper prefix of `prompt`; `extra` more tokens will be generated."""
        need = len(prompt) + extra
        if need > self._cells:
            raise EngineRefused(
                f"{len(prompt)} prompt tokens and {extra} to generate exceed the {self._cells} of model.context_length"
            )
        idle = [slot for slot in self.slots if not slot.busy]
        if not idle:
            raise EngineBusy("every sequence slot is in use; try again")
        # what is in progress will grow to its need; this is asked before anything resident is given up for it
        if need + sum(slot.cells for slot in self.slots if slot.busy) > self._cells:
            raise EngineBusy("the KV cache is full of requests in progress; try again")
        # the last token is always evaluated again: its logits are needed
        shared = {slot.seq: min(common(slot.tokens, prompt), len(prompt) - 1) for slot in self.slots}
        best = max(self.slots, key=lambda slot: (shared[slot.seq], not slot.busy, slot.used))
        keep = shared[best.seq]
        slot = best
        # every infill prompt begins with the same two tokens: what is kept must be worth what is lost
        if best.busy or len(best.tokens) - keep > min(keep, self.LOSS):
            slot = min(
                (s for s in idle if s is not best or not keep), key=lambda s: (bool(s.tokens), s.used), default=best
            )
        if slot is not best:
            self._forget(slot)
            if keep:
                self._memory.copy(best.seq, slot.seq, keep)
                slot.tokens = list(prompt[:keep])
        elif not self._memory.cut(slot.seq, keep):
            self._forget(slot)
        else:
            del slot.tokens[keep:]
        self._make_room(slot, need)
        self._clock += 1
        slot.used, slot.busy, slot.need = self._clock, True, need
        return slot

    def release(self, slot: Slot) -> None:
        """The sequence stays resident until its cells are needed."""
        slot.busy = False

    def _make_room(self, keep: Slot, need: int) -> None:
        # shared cells are counted once per sequence: an upper bound, so the cache never overflows
        others = sorted((s for s in self.slots if s is not keep and s.cells), key=lambda s: s.used)
        free = self._cells - need - sum(s.cells for s in others)
        for slot in others:
            if free >= 0:
                return
            if not slot.busy:
                free += len(slot.tokens)
                self._forget(slot)

    def _forget(self, slot: Slot) -> None:
        self._memory.cut(slot.seq, 0)
        slot.tokens = []
