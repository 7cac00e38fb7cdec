"""Reuse of cells whose tokens stand at other positions in a new prompt: the cells are moved, not evaluated again.

When the window around the cursor moves, nearly all of its text stays, only further up or down in the prompt. The cells
of that text are copied and their positions are shifted, like llama-server's cache reuse. They were computed after other
text, so the answer is not that of a fresh evaluation. Therefore this is done only for requests that allow it, and only
with sequences of the same client: the text of one client must not show in the answers to another. docs/adr/0010 has the
costs and gains.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lsp_harness.engine.cache.cached_sequence import common_prefix_length
from lsp_harness.engine.cache.host_cache import HostCache, HostSequence
from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.errors import HarnessError

GRAM_TOKENS = 8
"""Tokens that are looked up together. A run of twice this length contains such a group at a multiple of this length."""
MAX_PLACES_PER_GRAM = 8
"""Places of one group of tokens that are tried, because code repeats itself."""
MAX_FOUND_RUNS = 256
"""Largest number of runs of equal tokens that are searched for."""
MAX_CHAINED_RUNS = 64
"""Runs, the longest ones, of which the best chain is computed."""
MAX_MISSING_CONTEXT_TOKENS = 128
"""Tokens before a run that did not stand before it when it was evaluated. This is the length of a suffix, which changes
when the cursor jumps. Text of other files is longer: a run must not ignore it."""

PlacesByGram = dict[tuple[int, ...], list[int]]


class ShiftMemory(Protocol):
    """The operations of llama.cpp's memory that move cells."""

    def read_state(self, seq: int) -> Any: ...
    def load_state(self, seq: int, state: Any) -> bool: ...
    def move_cells(self, seq: int, runs: Sequence[tuple[int, int, int]]) -> None: ...


@dataclass(frozen=True, slots=True)
class TokenRun:
    """`size` tokens that a sequence has from position `source` on and a prompt has from position `target` on."""

    source: int
    target: int
    size: int


@dataclass(frozen=True, slots=True)
class ShiftPlan:
    """The runs of a sequence that can be moved to their positions in a prompt."""

    sequence: Slot | HostSequence
    runs: list[TokenRun]

    @property
    def gain(self) -> int:
        """Number of tokens that need no evaluation."""
        return sum(run.size for run in self.runs)

    def gaps(self, start: int, end: int) -> Iterator[int]:
        """Yield the number of tokens to evaluate before each run and after the last one.

        Args:
            start: Number of leading tokens of the prompt that are cached.
            end: Number of tokens of the prompt.
        """
        for run in self.runs:
            if run.target > start:
                yield run.target - start
            start = run.target + run.size
        yield end - start


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """A plan and a copy of the cells it needs. Once it is made, the sequence may be evicted."""

    plan: ShiftPlan
    size: int
    """Number of tokens of the sequence."""
    state: Any
    persist: bool


class StagedRuns:
    """Moved runs that wait in a staging slot until the tokens before them are evaluated.

    Args:
        kv: The cells of the KV cache.
        staging: The slot that holds the runs, one after the other, at their positions in the prompt.
        runs: The runs, in order.
        persist: Whether the source of the runs may be written to disk.
    """

    def __init__(self, kv: KvCache, staging: Slot, runs: list[TokenRun], *, persist: bool) -> None:
        self._kv = kv
        self._staging: Slot | None = staging
        self._runs = runs
        self._offset = 0
        """Index in the staging slot of the first cell that waits."""
        self._persist = persist

    def attach_reached(self, slot: Slot, prompt: Sequence[int]) -> int:
        """Attach the runs whose position `slot` has reached.

        Returns:
            The number of attached tokens.
        """
        before = len(slot.tokens)
        while self._staging and self._runs and self._runs[0].target <= (position := len(slot.tokens)):
            run = self._runs.pop(0)
            # Another request may have evaluated part of the run meanwhile.
            skip = min(position - run.target, run.size)
            if run.size > skip:
                tokens = prompt[position : run.target + run.size]
                self._kv.attach_staged(slot, self._staging, self._offset + skip, tokens)
                slot.persist = slot.persist and self._persist
            self._offset += run.size
        slot.staged_tokens = sum(run.size for run in self._runs)
        if not self._runs:
            self.close()
        return len(slot.tokens) - before

    def tokens_before_next(self, position: int) -> int | None:
        """Return how many tokens to evaluate from `position` up to the next run, or None if no run waits."""
        return self._runs[0].target - position if self._runs else None

    def close(self) -> None:
        """Drop the runs that are not attached yet, and free the staging slot."""
        self._runs.clear()
        # From here on the slot may serve any other request.
        staging, self._staging = self._staging, None
        if staging:
            self._kv.release(staging)
            self._kv.clear(staging)


class KvShift:
    """The search for runs of tokens in the cells and in host memory, and the move of their cells.

    Args:
        memory: The memory of the model.
        kv: The cells of the KV cache.
        host_cache: The sequences in host memory, if there are any.
        min_run_tokens: Shortest run that is moved if the request does not say; 0 moves none.
    """

    MIN_RUN_TOKENS = 16
    """Shorter runs are never moved: they occur by chance, and each takes a step of its own."""

    def __init__(
        self, memory: ShiftMemory, kv: KvCache, host_cache: HostCache | None = None, *, min_run_tokens: int = 0
    ) -> None:
        self._memory = memory
        self._kv = kv
        self._host_cache = host_cache
        self.min_run_tokens = min_run_tokens

    def plan(
        self,
        prompt: Sequence[int],
        client: str,
        min_run_tokens: int,
        start: int,
        new_tokens: int = 0,
        branches: int = 1,
    ) -> ShiftPlan | None:
        """Return the plan that saves most tokens, or None if there is none or no room for it.

        Args:
            prompt: The tokens of the request.
            client: The client whose sequences are searched.
            min_run_tokens: Shortest run that is moved.
            start: Number of leading tokens of `prompt` that are cached.
            new_tokens: Number of tokens that each candidate generates at most.
            branches: Number of candidates.
        """
        min_run_tokens = max(self.MIN_RUN_TOKENS, min_run_tokens)
        places = find_grams(prompt, start)
        plans: list[ShiftPlan] = []
        for sequence in self._sequences_of(client):
            runs = find_runs(sequence.tokens, prompt, places, min_run_tokens, start)
            runs = limit_missing_context(runs, common_prefix_length(sequence.tokens, prompt))
            if runs:
                plans.append(ShiftPlan(sequence, runs))
        best = max(plans, key=lambda plan: plan.gain, default=None)
        if best is None:
            return None
        room = len(best.sequence.tokens) + 1 + len(prompt) - best.gain + new_tokens * branches
        return best if self._kv.admission.has_room(room, branches + 1) else None

    def copy_source(self, plan: ShiftPlan) -> SourceCopy | None:
        """Copy the cells of the plan's sequence. Return None if the machine has no memory for the copy."""
        sequence = plan.sequence
        try:
            state = self._memory.read_state(sequence.seq) if isinstance(sequence, Slot) else sequence.state
        except MemoryError:
            return None
        return SourceCopy(plan, len(sequence.tokens), state, sequence.persist)

    def stage(self, source: SourceCopy, slot: Slot, *, urgent: bool) -> StagedRuns | None:
        """Move the runs for `slot` into a staging slot, and return it. Return None if there is no room.

        Args:
            source: The runs and their cells.
            slot: The slot that will attach the runs.
            urgent: Whether the request may take the spare cells and slots.
        """
        plan = source.plan
        # The staged runs need no cells of `slot`.
        slot.staged_tokens = plan.gain
        staging = self._kv.acquire_staging(source.size + 1, plan.gain, urgent=urgent)
        if staging is None:
            slot.staged_tokens = 0
            return None
        staged = StagedRuns(self._kv, staging, list(plan.runs), persist=source.persist)
        try:
            if self._memory.load_state(staging.seq, source.state):
                self._memory.move_cells(staging.seq, [(run.source, run.target, run.size) for run in plan.runs])
                return staged
        except HarnessError as error:
            sys.stderr.write(f"a part of a prompt could not be reused and is evaluated again: {error}\n")
        slot.staged_tokens = 0
        staged.close()
        return None

    def _sequences_of(self, client: str) -> list[Slot | HostSequence]:
        in_host = self._host_cache.sequences if self._host_cache else ()
        return [sequence for sequence in (*self._kv.sequences, *in_host) if sequence.client == client]


def find_grams(prompt: Sequence[int], start: int) -> PlacesByGram:
    """Return the positions of each group of `GRAM_TOKENS` tokens in `prompt` from `start` on.

    The last token is left out: it is always evaluated, because the logits after it are needed.
    """
    places: PlacesByGram = {}
    for position in range(start, len(prompt) - GRAM_TOKENS):
        places.setdefault(tuple(prompt[position : position + GRAM_TOKENS]), []).append(position)
    return places


def find_runs(
    old: Sequence[int], prompt: Sequence[int], places: PlacesByGram, min_tokens: int, start: int
) -> list[TokenRun]:
    """Return the runs common to `old` and `prompt` that have most tokens together and the same order in both.

    Args:
        old: The tokens of a cached sequence.
        prompt: The tokens of the request.
        places: The groups of tokens in `prompt` (see `find_grams`).
        min_tokens: Shortest run; at least twice `GRAM_TOKENS`.
        start: First position in `prompt` that is searched.
    """
    runs: list[TokenRun] = []
    # The end in `old` of the last run that was found, by the distance it moves.
    end_by_distance: dict[int, int] = {}
    for source in range(0, len(old) - GRAM_TOKENS + 1, GRAM_TOKENS):
        for target in places.get(tuple(old[source : source + GRAM_TOKENS]), ())[:MAX_PLACES_PER_GRAM]:
            if end_by_distance.get(target - source, 0) <= source and len(runs) < MAX_FOUND_RUNS:
                run = _extend_run(old, prompt, source, target, start)
                end_by_distance[target - source] = run.source + run.size
                runs.append(run)
    longest = sorted((run for run in runs if run.size >= min_tokens), key=lambda run: -run.size)[:MAX_CHAINED_RUNS]
    chains: list[tuple[int, list[TokenRun]]] = [(0, [])]
    for run in sorted(longest, key=lambda run: run.source):
        longer = [
            (gain + rest.size, [*chain, rest])
            for gain, chain in chains
            if (rest := _rest_after(run, chain, min_tokens))
        ]
        chains.append(max(longer, key=_gain_of))
    return max(chains, key=_gain_of)[1]


def limit_missing_context(runs: list[TokenRun], shared: int) -> list[TokenRun]:
    """Return the leading runs that were evaluated after nearly all tokens that stand before them in the prompt.

    A later run would predict what it predicted without the missing text.

    Args:
        runs: Runs in order.
        shared: Length of the common prefix of the sequence and the prompt.
    """
    known_tokens = shared
    for index, run in enumerate(runs):
        if run.target - known_tokens > MAX_MISSING_CONTEXT_TOKENS:
            return runs[:index]
        # The common prefix may reach into the first run.
        known_tokens += max(0, run.target + run.size - max(run.target, shared))
    return runs


def _gain_of(chain: tuple[int, list[TokenRun]]) -> int:
    return chain[0]


def _rest_after(run: TokenRun, chain: list[TokenRun], min_tokens: int) -> TokenRun | None:
    """Return the part of `run` that comes after `chain` in both texts, if it is long enough."""
    last = chain[-1] if chain else TokenRun(0, 0, 0)
    skip = max(0, last.source + last.size - run.source, last.target + last.size - run.target)
    return TokenRun(run.source + skip, run.target + skip, run.size - skip) if run.size - skip >= min_tokens else None


def _extend_run(old: Sequence[int], prompt: Sequence[int], source: int, target: int, start: int) -> TokenRun:
    """Return the longest run that contains position `source` of `old` and position `target` of `prompt`."""
    extension = 0
    while (
        source > extension
        and target - extension > start
        and old[source - extension - 1] == prompt[target - extension - 1]
    ):
        extension += 1
    source, target = source - extension, target - extension
    return TokenRun(source, target, common_prefix_length(old[source:], prompt[target:-1]))
