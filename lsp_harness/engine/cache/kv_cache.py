"""The KV cache: which token sequences are in it, which of them a prompt continues, and whether a request fits.

This is bookkeeping over a `SequenceMemory` that can truncate and copy sequences, so that it can be tested without a
model. A prompt continues the slot that shares most with it: in the same slot if few tokens of that are lost, else in
another slot. When cells or slots run out, idle sequences are evicted (see `cached_sequence.sort_for_eviction`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

from lsp_harness.engine.cache.cached_sequence import ALL_TOKENS, drop_old_logits, sort_for_eviction
from lsp_harness.engine.cache.sequence_checkpoints import CheckpointMemory, SequenceCheckpoints
from lsp_harness.engine.cache.slot_table import PLACEHOLDER_TOKEN, CellPool, SequenceMemory, Slot
from lsp_harness.errors import EngineBusy, EngineRefused


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Sizes of the KV cache."""

    cells: int
    """Cells in total, one token each."""
    slots: int
    """Sequences in total."""
    spare_cells: int = 0
    """Cells only urgent requests may take, so that no other request, however long, keeps them waiting."""
    spare_slots: int = 0
    """Slots only urgent requests may take."""
    fast_cells: int = 0
    """Cells in use up to which a decode step stays fast. 0 means that used cells do not slow a step down."""


class Admission:
    """A count of what requests in progress have reserved, and of what is left for the next one.

    Idle sequences do not count: they are evicted when a request needs their cells or slots.

    Args:
        slots: All slots of the cache.
        limits: The sizes of the cache.
    """

    def __init__(self, slots: Sequence[Slot], limits: CacheLimits) -> None:
        self._slots = slots
        self._cells = limits.cells
        self._spare_slots = limits.spare_slots
        self.context_length = limits.cells - limits.spare_cells
        """Number of tokens one request may need: its prompt and what its candidates generate."""

    @property
    def reserved_cells(self) -> int:
        """Number of cells that requests in progress may still take."""
        return sum(slot.reserved_cells for slot in self._slots)

    def available_cells(self, *, urgent: bool) -> int:
        """Return how many cells a new request could get."""
        pinned = len({cell for slot in self._slots if slot.is_busy for cell in slot.cells})
        return (self._cells if urgent else self.context_length) - pinned - self.reserved_cells

    def available_slots(self, *, urgent: bool) -> int:
        """Return how many slots a new request could get."""
        reserved = sum(slot.pending_forks for slot in self._slots)
        return sum(not slot.is_busy for slot in self._slots) - reserved - (0 if urgent else self._spare_slots)

    def has_room(self, tokens: int, slots: int, *, urgent: bool = False) -> bool:
        """Return whether a new request could get this many cells and slots."""
        return slots <= self.available_slots(urgent=urgent) and tokens <= self.available_cells(urgent=urgent)

    def check_size(self, prompt_tokens: int, new_tokens: int, slots: int, *, urgent: bool) -> None:
        """Check that the cache is large enough for a request, whatever else is in progress.

        Args:
            prompt_tokens: Number of tokens of the prompt.
            new_tokens: Number of tokens that all candidates generate together.
            slots: Number of candidates.
            urgent: Whether the request may take the spare slots.

        Raises:
            EngineRefused: The request can never fit.
        """
        max_slots = len(self._slots) - (0 if urgent else self._spare_slots)
        if slots > max_slots:
            raise EngineRefused(
                f"{slots} candidates are more than one request may have here; ask for at most {max_slots}"
            )
        if prompt_tokens + new_tokens > self.context_length:
            raise EngineRefused(
                f"{prompt_tokens} prompt tokens and {new_tokens} to generate are more than the {self.context_length} "
                "tokens of model.context_length; shorten the prompt or raise model.context_length"
            )

    def check_slots(self, slots: int, *, urgent: bool) -> None:
        """Raise EngineBusy if a new request cannot get this many slots now."""
        if slots > self.available_slots(urgent=urgent):
            raise EngineBusy("too many requests are in progress; try again")

    def check_cells(self, cells: int, *, urgent: bool) -> None:
        """Raise EngineBusy if a new request cannot get this many cells now."""
        if cells > self.available_cells(urgent=urgent):
            raise EngineBusy("the KV cache is full of requests in progress; try again")


class KvCache:
    """The sequences in llama.cpp's cells, and who may use or replace them.

    Args:
        memory: The memory of the model.
        limits: The sizes of the cache.
        now: The clock, in seconds.
        can_truncate: Whether the memory can drop the end of a sequence. Otherwise, sequences are continued whole or
            from a checkpoint.
    """

    MAX_DISCARDED_TOKENS = 256
    """Tokens that are dropped rather than kept in another slot: what a completion generated and nobody accepted."""
    COMPACT_RATIO = 1.25
    """Factor of `fast_cells` that must have been in use before the remaining sequences are moved to lower cells, which
    are faster.
    """

    def __init__(
        self,
        memory: SequenceMemory,
        limits: CacheLimits,
        *,
        now: Callable[[], float] = monotonic,
        can_truncate: bool = True,
    ) -> None:
        self.can_truncate = can_truncate
        self.slots = [Slot(seq=seq) for seq in range(limits.slots)]
        self._memory = memory
        self._cells = CellPool(limits.cells)
        self._now = now
        self.checkpoints = None if can_truncate else SequenceCheckpoints(cast("CheckpointMemory", memory), self.slots)
        self.admission = Admission(self.slots, limits)
        self.context_length = self.admission.context_length
        """Number of tokens one request may need: its prompt and what its candidates generate."""
        self.fast_cells = limits.fast_cells or limits.cells
        self.on_evict: Callable[[Slot], None] = lambda _: None
        """Called with each slot before it is evicted."""
        self.eviction_count = 0
        self._peak_cells = 0
        """The most cells in use at once since the sequences were last moved to the lowest cells."""

    def compact(self) -> None:
        """Evict all sequences if most may lie in high cells. A sequence that is restored takes the lowest cells."""
        fast_cells = max(self.fast_cells, self.used_cells)
        if self._peak_cells > self.COMPACT_RATIO * fast_cells and not any(slot.is_busy for slot in self.slots):
            for slot in self._idle_slots():
                self._evict_slot(slot)
            self._peak_cells = 0

    def acquire(
        self,
        prompt: Sequence[int],
        new_tokens: int,
        *,
        branches: int = 1,
        client: str = "",
        shift_client: str | None = None,
        persist: bool = False,
        urgent: bool = False,
    ) -> Slot:
        """Reserve a slot for a request and everything it will need.

        Args:
            prompt: The tokens of the prompt.
            new_tokens: Number of tokens that each candidate generates at most.
            branches: Number of candidates. The caller gets the slots of the others with `fork`.
            client: The client that sent the request.
            shift_client: The client if it accepts moved tokens, else None.
            persist: Whether the request allows its tokens to be written to disk.
            urgent: Whether the request may take the spare cells and slots.

        Returns:
            A busy slot that holds a prefix of `prompt`. It holds all of `prompt` only if the logits after it are kept.

        Raises:
            EngineRefused: The request can never fit.
            EngineBusy: The request does not fit now.
        """
        self.admission.check_size(len(prompt), new_tokens * branches, branches, urgent=urgent)
        self.admission.check_slots(branches, urgent=urgent)
        source, keep = self.longest_match(prompt, shift_client)
        logits = source.logits_rows.get(len(prompt)) if keep == len(prompt) else None
        if logits is None:
            # The last token must be evaluated again to get the logits after it.
            keep = source.cut_length(min(keep, len(prompt) - 1))
        # Requests in progress may take all they reserved. This is checked before any sequence is evicted.
        reserved = self.admission.reserved_cells
        missing = len(prompt) - (keep if source.is_busy else 0) + new_tokens * branches
        self.admission.check_cells(missing, urgent=urgent)
        discarded = len(source.tokens) - keep
        in_place = not source.is_busy and discarded <= min(keep, self.MAX_DISCARDED_TOKENS)
        slot = source if in_place else self._find_empty_slot(source) or source
        if slot is source:
            self.truncate(slot, keep)
        else:
            self.share_prefix(source, slot, keep)
        slot.is_busy, slot.reserved_tokens = True, len(prompt) + new_tokens
        slot.pending_forks, slot.tokens_per_fork = branches - 1, new_tokens
        if logits is not None and len(slot.tokens) == len(prompt):
            slot.logits_rows[len(prompt)] = logits
        slot.persist = persist and (slot.persist or not slot.tokens)
        slot.client, slot.last_used_s = client, self._now()
        self._make_room(len(prompt) - len(slot.tokens) + new_tokens * branches + reserved)
        return slot

    def fork(self, slot: Slot) -> Slot:
        """Return another busy slot with the same tokens. `acquire` has reserved it."""
        other = self._find_empty_slot(slot)
        assert other is not None, "acquire keeps as many slots idle as were reserved"
        self.share_prefix(slot, other, len(slot.tokens))
        slot.pending_forks -= 1
        other.is_busy, other.reserved_tokens = True, slot.reserved_tokens
        other.client, other.last_used_s = slot.client, slot.last_used_s
        return other

    def catch_up(self, slot: Slot, prompt: Sequence[int], shift_client: str | None = None) -> None:
        """Share what another slot has evaluated of the same prompt since `slot` was acquired."""
        source, keep = self.longest_match(prompt, shift_client)
        keep = source.cut_length(min(keep, len(prompt) - 1))
        if source is not slot and keep > len(slot.tokens):
            persist = slot.persist and source.persist
            self.truncate(slot, 0)
            self.share_prefix(source, slot, keep)
            slot.persist = persist

    def append(self, slot: Slot, tokens: Sequence[int]) -> None:
        """Add tokens that were evaluated after those of `slot`."""
        count, cells = len(tokens), self._cells
        if count > len(cells.free):
            self._make_room(count)
        slot.cells += cells.allocate(count)
        slot.tokens += tokens
        self._peak_cells = max(self._peak_cells, cells.size - len(cells.free))

    def keep_checkpoint(self, slot: Slot, *, is_end: bool) -> None:
        """Keep the state after the tokens of `slot` if the memory cannot be cut. `is_end`: the prompt ends here."""
        if self.checkpoints:
            self.checkpoints.keep(slot, is_end=is_end)

    def keep_logits(self, slot: Slot, logits: Any) -> None:
        """Keep the logits after the tokens of `slot`, so that the same prompt needs no evaluation."""
        slot.logits_rows[len(slot.tokens)], slot.last_used_s = logits, self._now()
        drop_old_logits(self.slots)

    def release(self, slot: Slot) -> None:
        """End the use of `slot`. Its sequence stays until the cells are needed."""
        slot.is_busy, slot.pending_forks, slot.staged_tokens = False, 0, 0
        slot.last_used_s = self._now()

    def find_empty_slot(self, client: str, tokens: int, *, urgent: bool = False) -> Slot | None:
        """Return an empty idle slot and make room for `tokens`, or return None if there is no room."""
        if tokens > self.admission.available_cells(urgent=urgent):
            return None
        slot = self._find_empty_slot(None)
        if slot is None or not self._make_room(tokens + self.admission.reserved_cells):
            return None
        slot.client, slot.last_used_s = client, self._now()
        return slot

    def evict_ahead(self, tokens: int) -> bool:
        """Evict one idle sequence, but not the newest, if `tokens` more would exceed `fast_cells`.

        Returns:
            Whether a sequence was evicted.
        """
        idle = self._idle_slots()
        if self.used_cells + tokens <= self.fast_cells or len(idle) < 2:
            return False
        newest = max(idle, key=lambda slot: slot.last_used_s)
        self._evict_slot(next(slot for slot in idle if slot is not newest))
        return True

    def acquire_staging(self, room: int, size: int, *, urgent: bool = False) -> Slot | None:
        """Return a busy slot for moved cells that wait for their place in a prompt.

        Args:
            room: Number of cells that are needed while the cells are moved.
            size: Number of moved cells that stay.
            urgent: Whether the request may take the spare cells and slots.

        Returns:
            The slot, or None if there is no room.
        """
        has_room = self.admission.has_room(room, 1, urgent=urgent)
        slot = self.find_empty_slot("", room, urgent=urgent) if has_room else None
        if slot:
            slot.is_busy, slot.reserved_tokens, slot.last_used_s = True, 0, 0.0
            self._peak_cells = max(self._peak_cells, self._cells.used + room)
            self.append(slot, [PLACEHOLDER_TOKEN] * size)
        return slot

    def _find_empty_slot(self, excluded: Slot | None) -> Slot | None:
        """Return an empty slot other than `excluded`, if need be after an eviction."""
        for slot in self.slots:
            if not slot.is_busy and not slot.tokens and slot is not excluded:
                return slot
        for slot in self._idle_slots():
            if slot is not excluded:
                self._evict_slot(slot)
                return slot
        return None

    def _idle_slots(self) -> list[Slot]:
        """Return the idle slots with a sequence, in eviction order."""
        occupied = [slot for slot in self.slots if slot.tokens]
        return [slot for slot in sort_for_eviction(occupied, self._now()) if not slot.is_busy]

    def _make_room(self, cells: int) -> bool:
        """Evict idle slots until `cells` are free and the used cells would not exceed `fast_cells` with them.

        Returns:
            Whether `cells` are free.
        """
        for slot in self._idle_slots():
            if len(self._cells.free) >= cells and self._cells.used + cells <= self.fast_cells:
                break
            self._evict_slot(slot)
        return len(self._cells.free) >= cells

    def _evict_slot(self, slot: Slot) -> None:
        self.on_evict(slot)
        self.eviction_count += 1
        self.clear(slot)

    # -- slots, kept in step with llama.cpp's memory
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
        if not length:
            return
        self._memory.copy(source.seq, target.seq, length)
        target.tokens = source.tokens[:length]
        if self.checkpoints and source.checkpoints is not None:
            target.checkpoints = {place: state for place, state in source.checkpoints.items() if place <= length}
            # the copy has the state after all tokens of the source
            if length < len(source.tokens) and not self.checkpoints.cut(target, length):
                target.tokens, target.checkpoints = [], {}
                return
        target.cells = source.cells[:length]
        target.persist = source.persist
        target.stored_tokens = min(source.stored_tokens, length)
        target.unmoved_tokens = source.unmoved_tokens if source.unmoved_tokens < length else ALL_TOKENS
        self._cells.share(target.cells)

    def truncate(self, slot: Slot, length: int) -> None:
        """Keep the first `length` tokens of `slot`, or those before its last checkpoint if it cannot be cut there."""
        if length >= len(slot.tokens):
            return
        self._cut(slot, length)

    def roll_back(self, slot: Slot) -> None:
        """Undo a step that was aborted, after which the memory has a part of the step, if it cannot be cut.

        The slot continues from its last checkpoint.
        """
        if self.checkpoints:
            self._cut(slot, max((place for place in slot.checkpoints or {} if place <= len(slot.tokens)), default=0))

    def _cut(self, slot: Slot, length: int) -> None:
        if self.checkpoints:
            length = self.checkpoints.cut(slot, length)
            slot.checkpoints = {place: state for place, state in (slot.checkpoints or {}).items() if place <= length}
        elif not self._memory.truncate(slot.seq, length) and length:
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
