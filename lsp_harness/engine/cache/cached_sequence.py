"""A cached sequence: tokens whose evaluation is kept, in the KV cache, in host memory or on disk.

All caches evict in the same order: first the sequences of idle clients; last the newest sequence of each active client.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

ALL_TOKENS = 2**31
"""Value of `CachedSequence.unmoved_tokens` for a sequence that has no moved token, however long it grows."""
CLIENT_IDLE_S = 60.0
"""A client without a request for this long counts as idle."""
MAX_LOGITS_ROWS = 32
"""Rows of logits that one cache keeps. A row takes four bytes for each token of the vocabulary."""


@dataclass(slots=True, eq=False)
class CachedSequence:
    """Evaluated tokens and what the caches need to know about them."""

    tokens: list[int] = field(default_factory=list[int])
    client: str = ""
    last_used_s: float = 0.0
    """Monotonic time of the last use."""
    persist: bool = False
    """Whether every request that contributed tokens allows them to be written to disk."""
    stored_tokens: int = 0
    """Number of leading tokens that are on disk already."""
    logits_rows: dict[int, Any] = field(default_factory=dict[int, Any])
    """Kept logits by number of leading tokens: the row under n predicts the token after the first n."""
    unmoved_tokens: int = ALL_TOKENS
    """Number of leading tokens that were evaluated at their positions. Later tokens were moved there, or were evaluated
    after moved tokens, so their cells depend on text that no longer stands before them."""
    checkpoints: dict[int, Any] | None = None
    """Kept states by number of leading tokens, if the sequence can be cut there only (see `SequenceCheckpoints`). None
    means that it can be cut anywhere."""

    def shared_length(self, prompt: Sequence[int], shift_client: str | None) -> int:
        """Return how many leading tokens of `prompt` a request can reuse from this sequence.

        Args:
            prompt: The tokens of the request.
            shift_client: The client of the request if it accepts moved tokens, else None. Moved tokens are reused only
                by the client that owns the sequence.
        """
        return self.cut_length(min(common_prefix_length(self.tokens, prompt), self.usable_length(shift_client)))

    def cut_length(self, length: int) -> int:
        """Return the length of the longest beginning of at most `length` tokens that can be continued."""
        if self.checkpoints is None or length == len(self.tokens):
            return length
        return max((place for place in self.checkpoints if place <= length), default=0)

    def usable_length(self, shift_client: str | None) -> int:
        """Return how many leading tokens a request may reuse (see `shared_length`)."""
        return len(self.tokens) if shift_client == self.client else min(len(self.tokens), self.unmoved_tokens)

    def copy_metadata_to(self, other: "CachedSequence") -> None:
        """Copy everything except the tokens to `other`, which holds the same tokens."""
        other.client, other.last_used_s = self.client, self.last_used_s
        other.persist, other.stored_tokens, other.unmoved_tokens = self.persist, self.stored_tokens, self.unmoved_tokens
        other.logits_rows = dict(self.logits_rows)


S = TypeVar("S", bound=CachedSequence)


def common_prefix_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the length of the common prefix of two token lists."""
    limit = min(len(a), len(b))
    low = 0
    # Slices are compared first because prompts usually share all tokens but the last few.
    while low < limit:
        step = limit - low
        while step and a[low : low + step] != b[low : low + step]:
            step //= 2
        if not step:
            break
        low += step
    return low


def sort_for_eviction(sequences: Sequence[S], now_s: float) -> list[S]:
    """Return the sequences in the order in which they are evicted (see the module docstring)."""
    newest: dict[str, S] = {}
    for sequence in sequences:
        if sequence.client not in newest or sequence.last_used_s >= newest[sequence.client].last_used_s:
            newest[sequence.client] = sequence

    def rank(sequence: S) -> tuple[bool, bool, float]:
        latest = newest[sequence.client]
        is_active = latest.last_used_s >= now_s - CLIENT_IDLE_S
        return is_active, is_active and latest is sequence, sequence.last_used_s

    return sorted(sequences, key=rank)


def drop_old_logits(sequences: Sequence[CachedSequence]) -> None:
    """Keep `MAX_LOGITS_ROWS` rows of logits: those of the sequences that were used last."""
    rows_left = MAX_LOGITS_ROWS
    for sequence in sorted(sequences, key=lambda sequence: -sequence.last_used_s):
        # The shortest lengths stay: they are the end of the prompt, which the next request needs first.
        lengths = sorted(sequence.logits_rows)[:rows_left]
        sequence.logits_rows = {length: sequence.logits_rows[length] for length in lengths}
        rows_left -= len(lengths)
