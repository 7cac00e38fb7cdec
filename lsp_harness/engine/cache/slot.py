"""A slot: one sequence number of llama.cpp's memory and the cached sequence in it."""

from dataclasses import dataclass, field

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
