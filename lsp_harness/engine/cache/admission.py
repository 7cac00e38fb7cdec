"""A test whether a request fits into the KV cache beside the requests in progress."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.engine.cache.slot import Slot
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
