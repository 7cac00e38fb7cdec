"""The model, its caches and its step costs: which prompt a request gets, and what of it needs no evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lsp_harness.engine.cache.cached_sequence import CachedSequence
from lsp_harness.engine.cache.disk_cache import DiskCache
from lsp_harness.engine.cache.host_cache import HostCache
from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.kv_shift import KvShift, ShiftPlan, StagedRuns
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.engine.decode.expected_names import NameBias
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.sampler import find_likeliest_match
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.inference.request import Owner, Sampling

COMPLETION_TOKENS = 64
"""Tokens by which a completion usually grows."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in tokens."""

    tokens: Sequence[int]
    forced: bytes = b""
    """The text the answer must begin with. It ends the text before the cursor and is not in `tokens` (healing)."""
    tail: bytes = b""
    """The end of the text before the cursor, `forced` included."""

    @property
    def before(self) -> bytes:
        """The tail without the forced text."""
        return self.tail[: len(self.tail) - len(self.forced)]


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A request whose prompts are tokens."""

    prompts: tuple[Prompt, ...]
    """The preferred prompt first. The first one whose new tokens can be evaluated within `budget_ms` is taken."""
    sampling: Sampling
    owner: Owner = field(default_factory=Owner)
    budget_ms: float = 0.0
    """0 means that the first prompt is always taken."""
    cache_reuse: int | None = 0
    """Shortest run of tokens that is moved rather than evaluated; 0 moves none, None leaves it to the engine."""


@dataclass(slots=True)
class ModelRuntime:
    """The model with its caches and step costs, on which every request runs."""

    llama: Llama
    kv: KvCache
    step_cost: StepCost
    disk_cache: DiskCache | None = None
    host_cache: HostCache | None = None
    kv_shift: KvShift | None = None

    def __post_init__(self) -> None:
        host_cache, disk_cache, kv = self.host_cache, self.disk_cache, self.kv
        if host_cache:
            kv.on_evict = lambda slot: host_cache.store(slot, kv.slots)
        if disk_cache:
            # Sequences go from the cells to host memory, if that is used, and from there to disk.
            (host_cache or kv).on_evict = disk_cache.save_evicted

    def cached_length(self, tokens: Sequence[int], shift_client: str | None = None) -> int:
        """Return how many of `tokens` need no evaluation (see `CachedSequence.shared_length`)."""
        in_host = self.host_cache.cached_length(tokens, shift_client) if self.host_cache else 0
        return max(self.kv.cached_length(tokens, shift_client), in_host)

    def shift_client(self, request: TokenRequest) -> str | None:
        """Return the client of a request that accepts moved tokens, and None for a request that does not."""
        return request.owner.client if self._min_run_tokens(request) else None

    def idle_sequences(self) -> list[CachedSequence]:
        """Return the sequences that no request uses, the newest first."""
        in_cells = [slot for slot in self.kv.slots if not slot.is_busy]
        in_host = self.host_cache.sequences if self.host_cache else ()
        return sorted([*in_cells, *in_host], key=lambda sequence: -sequence.last_used_s)

    def evict_ahead(self) -> bool:
        """Move one sequence to host memory if the next one that comes back needs its cells.

        This is done while no request waits. Otherwise the key that brings a sequence back waits for two copies.

        Returns:
            Whether a sequence was moved.
        """
        if not self.host_cache or not self.host_cache.sequences:
            return False
        return self.kv.evict_ahead(self.host_cache.longest_tokens + COMPLETION_TOKENS)

    def choose_prompt(self, request: TokenRequest) -> int:
        """Return the index of the first prompt that can be evaluated within the time budget, or of the last prompt.

        Without a budget, this is the first prompt.
        """
        last = len(request.prompts) - 1
        if not last or not request.budget_ms:
            return 0
        for index, prompt in enumerate(request.prompts[:-1]):
            start, end = self.cached_length(prompt.tokens, self.shift_client(request)), len(prompt.tokens)
            if start == end or self.step_cost.step_ms(end - start) <= request.budget_ms:
                return index
            plan = self._plan_shift(prompt, request, start)
            if plan and self._shift_ms(plan, start, end) <= request.budget_ms:
                return index
        return last

    def acquire(self, prompt: Prompt, request: TokenRequest, *, urgent: bool) -> tuple[Slot, Prompt, StagedRuns | None]:
        """Reserve a slot for `prompt` and bring back what the other caches have of it.

        Args:
            prompt: One of the prompts of the request.
            request: The request.
            urgent: Whether the request may take the spare cells and slots.

        Returns:
            The busy slot, the prompt extended by `extend_forced`, and the runs of tokens that were moved.

        Raises:
            EngineRefused: The request can never fit.
            EngineBusy: The request does not fit now.
        """
        sampling, owner, prompt_tokens = request.sampling, request.owner, len(prompt.tokens)
        shift_client = self.shift_client(request)
        if self.host_cache:
            self.kv.compact()
            self.host_cache.restore(self.kv, prompt.tokens, owner.client, shift_client=shift_client, urgent=urgent)
        if self.disk_cache:
            self.disk_cache.restore(self.kv, prompt.tokens, owner.client, shift_client=shift_client, urgent=urgent)
        if sampling.top_logprobs < 0 and not sampling.grammar:
            # A request for probabilities needs those of every token, and a grammar restricts the choice of tokens.
            prompt = self.extend_forced(prompt, shift_client, sampling)
        plan = self._plan_shift(prompt, request, self.kv.cached_length(prompt.tokens, shift_client))
        # The source is copied first because it may be evicted to make room.
        source = self.kv_shift.copy_source(plan) if self.kv_shift and plan else None
        slot = self.kv.acquire(
            prompt.tokens,
            _new_tokens(prompt, sampling),
            branches=sampling.n,
            client=owner.client,
            shift_client=shift_client,
            persist=owner.persist,
            urgent=urgent,
        )
        # The logits before the end of the prompt are of no use to the next key.
        slot.logits_rows = {size: row for size, row in slot.logits_rows.items() if size >= prompt_tokens}
        staged = self.kv_shift.stage(source, slot, urgent=urgent) if self.kv_shift and source else None
        return slot, prompt, staged

    def extend_forced(
        self, prompt: Prompt, shift_client: str | None = None, sampling: Sampling | None = None
    ) -> Prompt:
        """Return the prompt with the tokens of its forced text that are in the cells, with the logits after them.

        They were evaluated for an answer to a shorter beginning of the same word, or to the same prompt. Only tokens
        that healing would choose again are added.
        """
        extended = (
            self._extend_from(prompt, slot, slot.usable_length(shift_client), sampling or Sampling())
            for slot in self.kv.slots
            if slot.shared_length(prompt.tokens, shift_client) == len(prompt.tokens)
        )
        return max(extended, key=lambda candidate: len(candidate.tokens), default=prompt)

    def _extend_from(self, prompt: Prompt, slot: Slot, max_tokens: int, sampling: Sampling) -> Prompt:
        tokens, forced = list(prompt.tokens), prompt.forced
        vocabulary = self.llama.vocabulary
        name_bias = NameBias(vocabulary, sampling, prompt.before)
        while forced and len(tokens) < max_tokens and {len(tokens), len(tokens) + 1} <= slot.logits_rows.keys():
            logits = name_bias.apply(slot.logits_rows[len(tokens)], forced)
            token = find_likeliest_match(vocabulary, logits, forced)
            if token is None or token != slot.tokens[len(tokens)]:
                break
            piece = vocabulary.piece(token)
            if not forced.startswith(piece):
                break
            name_bias.add(piece)
            tokens.append(token)
            forced = forced[len(piece) :]
        return replace(prompt, tokens=tokens, forced=forced)

    def _min_run_tokens(self, request: TokenRequest) -> int:
        """Return the length from which on a request lets a run of tokens be moved in the KV cache; 0 forbids moving."""
        if not self.kv_shift:
            return 0
        if request.cache_reuse is not None:
            return request.cache_reuse
        # A request for probabilities wants those of a fresh evaluation.
        return self.kv_shift.min_run_tokens if request.sampling.top_logprobs < 0 else 0

    def _shift_ms(self, plan: ShiftPlan, start: int, end: int) -> float:
        """Return the milliseconds to move the cached tokens of a plan and to evaluate the tokens between them."""
        return self.step_cost.move_cost_ms + sum(self.step_cost.step_ms(gap) for gap in plan.gaps(start, end))

    def _plan_shift(self, prompt: Prompt, request: TokenRequest, start: int) -> ShiftPlan | None:
        """Plan which runs of tokens after `start` to move within the KV cache, as this is faster than evaluating them.

        Return None if there are no such runs, or if the request allows no moving.
        """
        min_run_tokens, end = self._min_run_tokens(request), len(prompt.tokens)
        if not self.kv_shift or not 0 < min_run_tokens < end - start:
            return None
        new_tokens, branches = _new_tokens(prompt, request.sampling), request.sampling.n
        plan = self.kv_shift.plan(prompt.tokens, request.owner.client, min_run_tokens, start, new_tokens, branches)
        return plan if plan and self._shift_ms(plan, start, end) < self.step_cost.step_ms(end - start) else None


def _new_tokens(prompt: Prompt, sampling: Sampling) -> int:
    """Return how many tokens a candidate adds at most. A token has at least one byte of the forced text."""
    return max(0, sampling.n_predict) + len(prompt.forced)
