"""One request in progress: its prompt is evaluated part by part, then its candidates are generated from that prompt."""

from collections.abc import Callable, Sequence
from time import perf_counter

from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.engine.decode.branch import Branch, BranchContext
from lsp_harness.engine.decode.llama import Logits
from lsp_harness.engine.decode.model_runtime import ModelRuntime, TokenRequest
from lsp_harness.engine.decode.sampler import Sampler
from lsp_harness.inference.request import Chunk, Stop, Usage


class RunningRequest:
    """A request in progress. The scheduler asks it for tokens to evaluate and tells it when they are evaluated.

    Args:
        model: The model, its caches and its step costs.
        request: The request.
        emit: Receives the text of the candidates.
        urgent: Whether the request may take the spare cells and slots.

    Raises:
        EngineRefused: The grammar is not valid, or the request can never fit into the cache.
        EngineBusy: The request does not fit now.
    """

    def __init__(
        self, model: ModelRuntime, request: TokenRequest, emit: Callable[[Chunk], None], *, urgent: bool = False
    ) -> None:
        self._model = model
        self._request = request
        self._emit = emit
        self._prompt_index = model.choose_prompt(request)
        self._start_s = perf_counter()
        self._evaluated = self._shifted = 0
        self._cancelled: set[int] = set()
        """Numbers of the candidates that were cancelled while the prompt was evaluated."""
        if request.sampling.grammar:
            # An invalid grammar is refused before anything is evaluated.
            Sampler(model.llama.vocabulary, request.sampling, 0).close()
        prompt = request.prompts[self._prompt_index]
        slot, self._prompt, self._staged = model.acquire(prompt, request, urgent=urgent)
        self._prompt_slot: Slot | None = slot
        """The slot of the prompt until the prompt is evaluated."""
        self._reused = len(slot.tokens)
        self.branches: list[Branch] = []
        if len(slot.tokens) == len(self._prompt.tokens):
            self._start_branches(slot.logits_rows[len(slot.tokens)])

    @property
    def is_done(self) -> bool:
        """True if all candidates have ended."""
        return self._prompt_slot is None and all(branch.stop for branch in self.branches)

    @property
    def live_branches(self) -> list[Branch]:
        """The candidates that have tokens to evaluate."""
        return [branch for branch in self.branches if branch.next_tokens]

    @property
    def is_reading_prompt(self) -> bool:
        """True if part of the prompt is still to be evaluated."""
        return self._prompt_slot is not None

    @property
    def busy_slots(self) -> list[Slot]:
        """The slots that the request keeps busy."""
        return [slot for slot in (self._prompt_slot, *(b.slot for b in self.branches if not b.stop)) if slot]

    @property
    def evaluated_prompt(self) -> Sequence[int]:
        """The tokens of the prompt that are evaluated, as long as there are others."""
        return self._prompt_slot.tokens if self._prompt_slot else ()

    def next_part(self, max_tokens: int) -> tuple[Slot, Sequence[int], bool]:
        """Return the slot and the next tokens of the prompt, and whether they are the last ones."""
        assert self._prompt_slot is not None
        slot, tokens = self._prompt_slot, self._prompt.tokens
        before = len(slot.tokens)
        self._model.kv.catch_up(slot, tokens, self._model.shift_client(self._request))
        if self._staged:
            self._shifted += self._staged.attach_reached(slot, tokens)
        start = len(slot.tokens)
        self._reused += start - before
        if self._staged:
            max_tokens = min(max_tokens, self._staged.tokens_before_next(start) or max_tokens)
        return slot, tokens[start : start + max_tokens], start + max_tokens >= len(tokens)

    def on_evaluated(self, tokens: Sequence[int], last_index: int) -> None:
        """Take over a part of the prompt that was evaluated.

        Args:
            tokens: The part of the prompt that was evaluated.
            last_index: Index in the batch of its last token.
        """
        assert self._prompt_slot is not None
        self._model.kv.append(self._prompt_slot, tokens)
        self._evaluated += len(tokens)
        is_complete = len(self._prompt_slot.tokens) == len(self._prompt.tokens)
        self._model.kv.keep_checkpoint(self._prompt_slot, is_end=is_complete)
        if is_complete:
            logits = self._model.llama.logits(last_index).copy()
            self._model.kv.keep_logits(self._prompt_slot, logits)
            self._start_branches(logits)

    def stop(self, index: int | None, reason: Stop) -> None:
        """End one candidate, or all of them if `index` is None."""
        if self._prompt_slot is not None:
            self._cancelled |= set(range(self._request.sampling.n)) if index is None else {index}
            if len(self._cancelled) < self._request.sampling.n:
                return
            self.abandon()
            usage = self._prompt_usage()
            for number in sorted(self._cancelled):
                self._emit(Chunk("", reason, usage, number))
            return
        for branch in self.branches:
            if index in (None, branch.index):
                branch.end(reason)

    def abandon(self) -> None:
        """Release all slots without sending a chunk."""
        if self._prompt_slot is not None:
            self._model.kv.release(self._prompt_slot)
            self._prompt_slot = None
        if self._staged:
            self._staged.close()
        for branch in self.branches:
            if branch.stop is None:
                branch.stop, branch.next_tokens = "cancelled", []
                branch.close()

    def _prompt_usage(self) -> Usage:
        ms = (perf_counter() - self._start_s) * 1000
        return Usage(self._evaluated, self._reused, prompt_ms=ms, rung=self._prompt_index, shifted=self._shifted)

    def _start_branches(self, logits: Logits) -> None:
        """Start all candidates with the logits after the prompt."""
        model, sampling, slot = self._model, self._request.sampling, self._prompt_slot
        assert slot is not None
        self._prompt_slot = None
        context = BranchContext(
            llama=model.llama,
            kv=model.kv,
            sampling=sampling,
            before=self._prompt.before,
            forced=self._prompt.forced,
            emit=self._emit,
            prompt_usage=self._prompt_usage(),
            step_cost=model.step_cost.step_ms,
        )
        for index in range(sampling.n):
            branch_slot = slot if index == 0 else model.kv.fork(slot)
            self.branches.append(Branch(context, branch_slot, index))
        for branch in self.branches:
            if branch.index in self._cancelled:
                branch.end("cancelled")
            else:
                branch.begin(logits)
