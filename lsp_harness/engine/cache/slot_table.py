"""The slots of the KV cache: what each one holds, and their cells.

Sequences with a common prefix share its cells: the cache is a prefix tree whose leaves are the slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lsp_harness.engine.cache.cached_sequence import CachedSequence

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
