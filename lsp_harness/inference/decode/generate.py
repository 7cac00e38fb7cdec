"""One request: its prompt evaluated chunk by chunk, then its candidates over that one prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from lsp_harness.inference.decode.branch import Branch
from lsp_harness.inference.decode.kv import Kv, Slot, common
from lsp_harness.inference.decode.llama import Llama, Logits
from lsp_harness.inference.decode.machine import Machine
from lsp_harness.inference.decode.parked import Lot
from lsp_harness.inference.decode.sampler import Sampler, agreeing
from lsp_harness.inference.decode.saved import Saved
from lsp_harness.inference.request import Chunk, Owner, Sampling, Stop, Usage


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tokens; `forced` is text the answer must start with and that is not part of it (healing)."""

    tokens: Sequence[int]
    forced: bytes = b""


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done. Of `prompts` the first is taken whose new tokens can be evaluated in `budget_ms`."""

    prompts: tuple[Prompt, ...]
    sampling: Sampling
    owner: Owner = field(default_factory=Owner)
    budget_ms: float = 0.0


@dataclass(slots=True)
class Model:
    """What a request runs on."""

    llama: Llama
    kv: Kv
    machine: Machine
    saved: Saved | None = None
    lot: Lot | None = None

    def __post_init__(self) -> None:
        lot, saved, kv = self.lot, self.saved, self.kv
        if lot:
            kv.leaving = lambda slot: lot.take(slot, kv.slots)
        if saved:
            # what leaves the cells goes to the lot, where there is one; what leaves that, to the disk
            (lot or kv).leaving = saved.leave

    def resident(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` need not be evaluated."""
        return max(self.kv.resident(tokens), self.lot.resident(tokens) if self.lot else 0)

    def choose(self, work: Work) -> int:
        """Which prompt of `work` to take."""
        last = len(work.prompts) - 1
        if not last or not work.budget_ms:
            return 0
        for rung, prompt in enumerate(work.prompts[:-1]):
            new = len(prompt.tokens) - self.resident(prompt.tokens)
            if not new or self.machine.cost(new) <= work.budget_ms:
                return rung
        return last

    def take(self, prompt: Prompt, work: Work, *, urgent: bool) -> tuple[Slot, Prompt]:
        """A busy slot for `prompt`, with what is parked or on disk of it if that is more than what is in the cells; and
        the prompt with what of its healing is resident (see `further`)."""
        sampling, owner, start = work.sampling, work.owner, len(prompt.tokens)
        if self.lot:
            self.kv.tidy()
            self.lot.fetch(self.kv, prompt.tokens, owner.client, urgent=urgent)
        if self.saved:
            self.saved.fetch(self.kv, prompt.tokens, owner.client, urgent=urgent)
        if sampling.top_logprobs < 0 and not sampling.grammar:
            # who asks for probabilities wants those of every token; a grammar leaves less to choose from
            prompt = self.further(prompt)
        extra = max(0, sampling.n_predict) + len(prompt.forced)
        slot = self.kv.take(
            prompt.tokens, extra, branches=sampling.n, client=owner.client, persist=owner.persist, urgent=urgent
        )
        # those of the words before are of no use to the next key
        slot.rows = {size: row for size, row in slot.rows.items() if size >= start}
        return slot, prompt

    def further(self, prompt: Prompt) -> Prompt:
        """`prompt` and those tokens healing would choose next that are resident, and of which it is kept what they
        predict.

        An answer to a shorter beginning of the same word has evaluated them, or one to the same place.
        """
        slots = [slot for slot in self.kv.slots if common(slot.tokens, prompt.tokens) == len(prompt.tokens)]
        return max((self._further(prompt, slot) for slot in slots), key=lambda it: len(it.tokens), default=prompt)

    def _further(self, prompt: Prompt, slot: Slot) -> Prompt:
        tokens, forced = list(prompt.tokens), prompt.forced
        while forced and {len(tokens), len(tokens) + 1} <= slot.rows.keys():
            token = agreeing(self.llama, slot.rows[len(tokens)], forced)
            if (
                token is None
                or token != slot.tokens[len(tokens)]
                or not forced.startswith(piece := self.llama.piece(token))
            ):
                break
            tokens.append(token)
            forced = forced[len(piece) :]
        return Prompt(tokens, forced)


class Run:
    """A request at work. The scheduler asks it what to evaluate and tells it what was."""

    def __init__(self, model: Model, work: Work, emit: Callable[[Chunk], None], *, urgent: bool = False) -> None:
        rung = model.choose(work)
        self._model = model
        self._work = work
        self._emit = emit
        self._rung = rung
        self._began = perf_counter()
        self._evaluated = 0
        self._dropped: set[int] = set()
        if work.sampling.grammar:
            # a grammar that is wrong is refused before anything is evaluated for it
            Sampler.of(model.llama, work.sampling, 0).close()
        slot, self._prompt = model.take(work.prompts[rung], work, urgent=urgent)
        self._slot: Slot | None = slot
        self._reused = len(slot.tokens)
        self.branches: list[Branch] = []
        if len(slot.tokens) == len(self._prompt.tokens):
            self._branch(slot.rows[len(slot.tokens)])

    @property
    def done(self) -> bool:
        return self._slot is None and all(branch.stop for branch in self.branches)

    @property
    def live(self) -> list[Branch]:
        """Candidates that have something to evaluate."""
        return [branch for branch in self.branches if branch.wanted]

    @property
    def prompting(self) -> bool:
        """Part of the prompt is still to be evaluated."""
        return self._slot is not None

    @property
    def slots(self) -> list[Slot]:
        """The sequences it keeps busy."""
        return [slot for slot in (self._slot, *(b.slot for b in self.branches if not b.stop)) if slot]

    @property
    def read(self) -> Sequence[int]:
        """What of the prompt is evaluated."""
        return self._slot.tokens if self._slot else ()

    def part(self, most: int) -> tuple[Slot, Sequence[int], bool]:
        """The next part of the prompt, at most `most` tokens, and whether it is the last."""
        assert self._slot is not None
        tokens = self._prompt.tokens
        before = len(self._slot.tokens)
        self._model.kv.catch_up(self._slot, tokens)
        self._reused += len(self._slot.tokens) - before
        start = len(self._slot.tokens)
        return self._slot, tokens[start : start + most], start + most >= len(tokens)

    def evaluated(self, tokens: Sequence[int], at: int) -> None:
        """A part of the prompt was evaluated; its last token is number `at` of the batch."""
        assert self._slot is not None
        self._model.kv.grow(self._slot, tokens)
        self._evaluated += len(tokens)
        if len(self._slot.tokens) == len(self._prompt.tokens):
            logits = self._model.llama.logits(at).copy()
            self._model.kv.keep_logits(self._slot, logits)
            self._branch(logits)

    def stop(self, index: int | None, reason: Stop) -> None:
        """End one candidate, or all of the request."""
        if self._slot is not None:
            self._dropped |= set(range(self._work.sampling.n)) if index is None else {index}
            if len(self._dropped) < self._work.sampling.n:
                return
            self.abandon()
            usage = self._usage()
            for number in sorted(self._dropped):
                self._emit(Chunk("", reason, usage, number))
            return
        for branch in self.branches:
            if index in (None, branch.index):
                branch.end(reason)

    def abandon(self) -> None:
        """Let go of everything without a word."""
        if self._slot is not None:
            self._model.kv.release(self._slot)
            self._slot = None
        for branch in self.branches:
            if branch.stop is None:
                branch.stop, branch.wanted = "cancelled", []
                branch.close()

    def _usage(self) -> Usage:
        ms = (perf_counter() - self._began) * 1000
        return Usage(self._evaluated, self._reused, 0, ms, 0.0, 0, 0, self._rung)

    def _branch(self, logits: Logits) -> None:
        """The prompt is done: all candidates begin with what its last token predicts."""
        model, work, slot = self._model, self._work, self._slot
        assert slot is not None
        usage = self._usage()
        self._slot = None
        for index in range(work.sampling.n):
            own = slot if index == 0 else model.kv.fork(slot)
            self.branches.append(
                Branch(
                    model.llama,
                    model.kv,
                    own,
                    work.sampling,
                    index,
                    self._prompt.forced,
                    self._emit,
                    usage,
                    model.machine.cost,
                )
            )
        for branch in self.branches:
            if branch.index in self._dropped:
                branch.end("cancelled")
            else:
                branch.begin(logits)
