"""Which token sequences are resident in the KV cache, and which of them a new prompt continues.

Pure book-keeping over a `Memory` that can cut and copy sequences, so that it can be tested without a model. Sequences
with a common beginning share its cells: the cache is a prefix tree whose leaves are the slots, and a cell is counted
once however many slots go through it. A prompt continues the slot it shares most with: in place when little of it
would be lost, else in another slot. When cells or slots run out, those go first that belong to a client which has been
idle; the newest sequence of a client at work goes last. `hot` is how many cells it is good to use, where full ones cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from lsp_harness.engine.decode.cached_sequence import ENDLESS, Held, leaving, thin
from lsp_harness.errors import EngineBusy, EngineRefused


class Memory(Protocol):
    """What llama.cpp's memory can do for us."""

    def cut(self, seq: int, length: int) -> bool: ...
    def copy(self, source: int, target: int, length: int, start: int = 0) -> None: ...


NOBODY = -1
"""In place of a token: no prompt has it."""


@dataclass(slots=True, eq=False)
class Slot(Held):
    """A resident sequence; `tokens` are evaluated, position for position, in `cells`."""

    seq: int = 0
    cells: list[int] = field(default_factory=list[int])
    busy: bool = False
    need: int = 0
    """Tokens it may grow to while it is busy."""
    forks: int = 0
    """How many more slots will branch off, each to grow by `extra` tokens."""
    extra: int = 0
    coming: int = 0
    """Tokens that wait aside for it, in cells already."""

    @property
    def aside(self) -> bool:
        """What it holds begins no prompt (see `Kv.aside`)."""
        return self.tokens[:1] == [NOBODY]

    @property
    def promised(self) -> int:
        """Cells it may still ask for."""
        return max(0, self.need - len(self.tokens) - self.coming) + self.forks * self.extra if self.busy else 0


class Kv:
    """`cells` tokens in all, over `slots` sequences. `leaving` hears of each slot before it is given up.

    Only what is urgent may take the last `spare_cells` and `spare_slots`: nothing else, however long, keeps it waiting.
    """

    LOSS = 256
    """Tokens we rather lose than occupy another slot: what a completion generated and nobody accepted."""
    ROOM = 1.25
    """Times `hot`: where more cells were in use at once, what is left of them may lie too high to be good."""

    def __init__(
        self,
        memory: Memory,
        *,
        cells: int,
        slots: int,
        spare_cells: int = 0,
        spare_slots: int = 0,
        hot: int = 0,
        now: Callable[[], float] = monotonic,
        cuts: bool = True,
    ) -> None:
        self._memory = memory
        self._size = cells
        self.context = cells - spare_cells
        """Tokens one request may need: its prompt and what its candidates generate."""
        self._spare_slots = spare_slots
        self.hot = hot or cells
        self._now = now
        self.cuts = cuts
        self._free = list(range(cells))
        self._holders = [0] * cells
        self.slots = [Slot(seq=seq) for seq in range(slots)]
        self.leaving: Callable[[Slot], None] = lambda _: None
        self.evicted = 0
        self._top = 0
        """As many cells as were in use at once since all that is in use was moved to the lowest ones."""

    @property
    def used(self) -> int:
        """Cells that hold something."""
        return self._size - len(self._free)

    @property
    def sequences(self) -> list[Slot]:
        """The slots with a sequence that a prompt may begin like."""
        return [slot for slot in list(self.slots) if slot.tokens and not slot.aside]

    def resident(self, prompt: Sequence[int], mover: str | None = None) -> int:
        """How many tokens of `prompt` need not be evaluated (see `Held.shared`)."""
        return max((slot.shared(prompt, mover) for slot in self.slots), default=0)

    def tidy(self) -> None:
        """Give everything up when most of what is in use may lie high: brought back, it takes the lowest cells."""
        if self._top > self.ROOM * max(self.hot, self.used) and not any(slot.busy for slot in self.slots):
            for slot in self._order():
                self._evict(slot)
            self._top = 0

    def take(
        self,
        prompt: Sequence[int],
        extra: int,
        *,
        branches: int = 1,
        client: str = "",
        mover: str | None = None,
        persist: bool = False,
        urgent: bool = False,
    ) -> Slot:
        """A busy slot whose tokens are a prefix of `prompt`: a proper one unless what they predict is kept.

        `extra` more tokens will be generated in each of `branches` slots (see `fork`). Raises EngineRefused when that
        can never fit and EngineBusy when it cannot now.
        """
        spare = 0 if urgent else self._spare_slots
        if len(prompt) + extra * branches > self.context or branches > len(self.slots) - spare:
            raise EngineRefused(
                f"{len(prompt)} prompt tokens and {extra * branches} to generate are more than the {self.context} tokens of model.context_length; shorten the prompt or raise it"
            )
        if branches > self._idle(urgent=urgent):
            raise EngineBusy("every sequence slot is in use; try again")
        source, keep = self._closest(prompt, mover)
        logits = source.rows.get(len(prompt)) if keep == len(prompt) else None
        if logits is None:
            # the last token is evaluated again: what it predicts is needed
            keep = min(keep, len(prompt) - 1)
        # what is in progress will grow to its need; this is asked before anything resident is given up for it
        promised = self._promised
        if len(prompt) - (keep if source.busy else 0) + extra * branches > self.left(urgent=urgent):
            raise EngineBusy("the KV cache is full of requests in progress; try again")
        in_place = not source.busy and len(source.tokens) - keep <= min(keep, self.LOSS)
        slot = source if in_place else self._vacant(source) or source
        if slot is source:
            self.shrink(slot, keep)
        else:
            self._copy(source, slot, keep)
        slot.busy, slot.need, slot.forks, slot.extra = True, len(prompt) + extra, branches - 1, extra
        if logits is not None and len(slot.tokens) == len(prompt):
            slot.rows[len(prompt)] = logits
        slot.persist = persist and (slot.persist or not slot.tokens)
        slot.client, slot.used = client, self._now()
        self._make_room(len(prompt) - len(slot.tokens) + extra * branches + promised)
        return slot

    def fork(self, slot: Slot) -> Slot:
        """Another busy slot with the same tokens; one of those `take` was told of."""
        other = self._vacant(slot)
        assert other is not None, "take keeps as many slots idle as were promised"
        self._copy(slot, other, len(slot.tokens))
        slot.forks -= 1
        other.busy, other.need, other.client, other.used = True, slot.need, slot.client, slot.used
        return other

    def catch_up(self, slot: Slot, prompt: Sequence[int], mover: str | None = None) -> None:
        """Take over what another slot has evaluated of the same prompt meanwhile."""
        source, keep = self._closest(prompt, mover)
        keep = min(keep, len(prompt) - 1)
        if source is not slot and keep > len(slot.tokens) and (self.cuts or keep == len(source.tokens)):
            persist = slot.persist and source.persist
            self.shrink(slot, 0)
            self._copy(source, slot, keep)
            slot.persist = persist

    def grow(self, slot: Slot, tokens: Sequence[int]) -> None:
        """`tokens` were evaluated after what the slot has."""
        if len(tokens) > len(self._free):
            self._make_room(len(tokens))
        for token in tokens:
            cell = self._free.pop()
            self._holders[cell] = 1
            slot.cells.append(cell)
            slot.tokens.append(token)
        self._top = max(self._top, self.used)

    def shrink(self, slot: Slot, length: int) -> None:
        """Keep the first `length` tokens; none where the memory cannot be cut."""
        if length >= len(slot.tokens):
            return
        if not self._memory.cut(slot.seq, length) and length:
            self._memory.cut(slot.seq, 0)
            length = 0
        for cell in slot.cells[length:]:
            self._holders[cell] -= 1
            if not self._holders[cell]:
                self._free.append(cell)
        del slot.tokens[length:], slot.cells[length:]
        slot.stored = min(slot.stored, length)
        slot.pure = slot.pure if slot.pure < length else ENDLESS
        slot.rows = {size: row for size, row in slot.rows.items() if size <= length}

    def keep_logits(self, slot: Slot, logits: Any) -> None:
        """Remember what the slot's tokens predict: as a prompt they need no evaluation at all."""
        slot.rows[len(slot.tokens)], slot.used = logits, self._now()
        thin(self.slots)

    def release(self, slot: Slot) -> None:
        """The sequence stays resident until its cells are needed."""
        slot.busy, slot.forks, slot.coming = False, 0, 0
        slot.used = self._now()

    def vacant(self, client: str, tokens: int, *, urgent: bool = False) -> Slot | None:
        """An empty slot, not busy, with room for `tokens`, if there can be one."""
        if tokens > self.left(urgent=urgent):
            return None
        slot = self._vacant(None)
        if slot is None or not self._make_room(tokens + self._promised):
            return None
        slot.client, slot.used = client, self._now()
        return slot

    def ease(self, tokens: int) -> bool:
        """Give up one idle sequence if so many more cells would be too many to be good; never the one used last. True
        when it was."""
        idle = self._order()
        if self.used + tokens <= self.hot or len(idle) < 2:
            return False
        last = max(idle, key=lambda slot: slot.used)
        self._evict(next(slot for slot in idle if slot is not last))
        return True

    def fits(self, tokens: int, slots: int, *, urgent: bool = False) -> bool:
        """Whether so many could be had now, besides what is promised."""
        return slots <= self._idle(urgent=urgent) and tokens <= self.left(urgent=urgent)

    def aside(self, room: int, size: int, *, urgent: bool = False) -> Slot | None:
        """A busy slot for `size` tokens that wait for their place in a prompt, if there can be one; there is `room` to
        pick them out of more."""
        slot = self.vacant("", room, urgent=urgent) if self.fits(room, 1, urgent=urgent) else None
        if slot:
            slot.busy, slot.need, slot.used = True, 0, 0.0
            self._top = max(self._top, self.used + room)
            self.grow(slot, [NOBODY] * size)
        return slot

    def adopt(self, slot: Slot, aside: Slot, start: int, tokens: Sequence[int]) -> None:
        """`slot` goes on with `tokens`, which are the `start`-th and later ones of `aside`, at their positions already."""
        at, cells = len(slot.tokens), aside.cells[start : start + len(tokens)]
        self._memory.copy(aside.seq, slot.seq, at + len(tokens), at)
        slot.pure = min(slot.pure, at)
        slot.tokens += tokens
        slot.cells += cells
        for cell in cells:
            self._holders[cell] += 1

    def forget(self, slot: Slot) -> None:
        """Give up what an idle slot holds."""
        self.shrink(slot, 0)
        slot.persist = False

    @property
    def _promised(self) -> int:
        """Cells that what is in progress may still ask for."""
        return sum(slot.promised for slot in self.slots)

    def _idle(self, *, urgent: bool) -> int:
        """Slots that can be had when all that is idle is given up."""
        promised = sum(slot.forks for slot in self.slots)
        return sum(not slot.busy for slot in self.slots) - promised - (0 if urgent else self._spare_slots)

    def left(self, *, urgent: bool) -> int:
        """Cells that can be had when all that is idle is given up."""
        pinned = len({cell for slot in self.slots if slot.busy for cell in slot.cells})
        return (self._size if urgent else self.context) - pinned - self._promised

    def _closest(self, prompt: Sequence[int], mover: str | None) -> tuple[Slot, int]:
        """The slot that shares most with `prompt`, and how much; an idle one among equals, and one that knows what all of
        `prompt` predicts."""
        size = len(prompt)
        shared = [
            (slot.shared(prompt, mover), not slot.busy, size in slot.rows, slot.used, slot) for slot in self.slots
        ]
        best = max(shared, key=lambda entry: entry[:4])
        return best[4], best[0]

    def _copy(self, source: Slot, target: Slot, length: int) -> None:
        if not length or not (self.cuts or length == len(source.tokens)):
            return
        self._memory.copy(source.seq, target.seq, length)
        target.tokens = source.tokens[:length]
        target.cells = source.cells[:length]
        target.persist = source.persist
        target.stored = min(source.stored, length)
        target.pure = source.pure if source.pure < length else ENDLESS
        for cell in target.cells:
            self._holders[cell] += 1

    def _vacant(self, source: Slot | None) -> Slot | None:
        """An empty slot that is not `source`: a blank one, else the first in the order of leaving."""
        for slot in self.slots:
            if not slot.busy and not slot.tokens and slot is not source:
                return slot
        for slot in self._order():
            if slot is not source:
                self._evict(slot)
                return slot
        return None

    def _order(self) -> list[Slot]:
        """Idle slots that hold something, the first to go first."""
        return [slot for slot in leaving([s for s in self.slots if s.tokens], self._now()) if not slot.busy]

    def _make_room(self, cells: int) -> bool:
        """Give up idle slots until `cells` are free and taking them leaves no more than `hot` in use."""
        for slot in self._order():
            if len(self._free) >= cells and self.used + cells <= self.hot:
                break
            self._evict(slot)
        return len(self._free) >= cells

    def _evict(self, slot: Slot) -> None:
        self.leaving(slot)
        self.evicted += 1
        self.forget(slot)
