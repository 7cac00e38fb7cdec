"""One request: its prompt evaluated chunk by chunk, then its candidates over that one prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from lsp_harness.engine.decode.branch import Branch
from lsp_harness.engine.decode.disk_cache import Saved
from lsp_harness.engine.decode.expected_names import Expectation
from lsp_harness.engine.decode.host_cache import Lot
from lsp_harness.engine.decode.kv_cache import Kv, Slot
from lsp_harness.engine.decode.kv_shift import Moved, Plan, Shift
from lsp_harness.engine.decode.llama import Llama, Logits
from lsp_harness.engine.decode.sampler import Sampler, agreeing
from lsp_harness.engine.decode.step_cost import Machine
from lsp_harness.inference.request import Chunk, Owner, Sampling, Stop, Usage

ANSWER = 64
"""Tokens that a completion usually grows by."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tokens; `forced` is text the answer must start with and that is not part of it (healing), the end of the `tail` of the text
    before the answer."""

    tokens: Sequence[int]
    forced: bytes = b""
    tail: bytes = b""

    @property
    def before(self) -> bytes:
        """What of the tail is not forced."""
        return self.tail[: len(self.tail) - len(self.forced)]


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done. Of `prompts` the first is taken whose new tokens can be evaluated in `budget_ms`."""

    prompts: tuple[Prompt, ...]
    sampling: Sampling
    owner: Owner = field(default_factory=Owner)
    budget_ms: float = 0.0
    cache_reuse: int | None = 0
    """Tokens of a run that is moved rather than evaluated, at least; with 0 none is, None is the engine's own choice."""


@dataclass(slots=True)
class Model:
    """What a request runs on."""

    llama: Llama
    kv: Kv
    machine: Machine
    saved: Saved | None = None
    lot: Lot | None = None
    shift: Shift | None = None

    def __post_init__(self) -> None:
        lot, saved, kv = self.lot, self.saved, self.kv
        if lot:
            kv.leaving = lambda slot: lot.take(slot, kv.slots)
        if saved:
            # what leaves the cells goes to the lot, where there is one; what leaves that, to the disk
            (lot or kv).leaving = saved.leave

    def resident(self, tokens: Sequence[int], mover: str | None = None) -> int:
        """How many of `tokens` need not be evaluated (see `Held.shared`)."""
        return max(self.kv.resident(tokens, mover), self.lot.resident(tokens, mover) if self.lot else 0)

    def mover(self, work: Work) -> str | None:
        """The client whose moved cells `work` may have; None where it wants the answer of a fresh evaluation."""
        return work.owner.client if self._least(work) else None

    def _least(self, work: Work) -> int:
        """Tokens of a run that is moved for `work` at least; 0 moves none."""
        if not self.shift:
            return 0
        if work.cache_reuse is not None:
            return work.cache_reuse
        # who asks for probabilities wants the model's own
        return self.shift.least if work.sampling.top_logprobs < 0 else 0

    def ease(self) -> bool:
        """While nobody waits: move one sequence out of the way of what may come back next, lest the key that brings it
        back wait for two copies. True when there was one."""
        return bool(self.lot and self.lot.sequences and self.kv.ease(self.lot.largest + ANSWER))

    def choose(self, work: Work) -> int:
        """Which prompt of `work` to take."""
        last = len(work.prompts) - 1
        if not last or not work.budget_ms:
            return 0
        for rung, prompt in enumerate(work.prompts[:-1]):
            start, end = self.resident(prompt.tokens, self.mover(work)), len(prompt.tokens)
            if start == end or self.machine.cost(end - start) <= work.budget_ms:
                return rung
            plan = self._plan(prompt, work, start)
            if plan and self._cost(plan, start, end) <= work.budget_ms:
                return rung
        return last

    def _cost(self, plan: Plan, start: int, end: int) -> float:
        """Milliseconds to move what can be moved and to evaluate the rest, which takes a step for each gap at least."""
        return self.machine.move_cost + sum(self.machine.cost(gap) for gap in plan.gaps(start, end))

    def _plan(self, prompt: Prompt, work: Work, start: int) -> Plan | None:
        """What of `prompt`, from `start` on, is better moved than evaluated."""
        least, end = self._least(work), len(prompt.tokens)
        if not self.shift or not 0 < least < end - start:
            return None
        extra, branches = max(0, work.sampling.n_predict) + len(prompt.forced), work.sampling.n
        plan = self.shift.plan(prompt.tokens, work.owner.client, least, start, extra, branches)
        return plan if plan and self._cost(plan, start, end) < self.machine.cost(end - start) else None

    def take(self, prompt: Prompt, work: Work, *, urgent: bool) -> tuple[Slot, Prompt, Moved | None]:
        """A busy slot for `prompt`, with what is parked or on disk of it if that is more than what is in the cells; the
        prompt with what of its healing is resident (see `further`); and what it can have that was moved."""
        sampling, owner, start = work.sampling, work.owner, len(prompt.tokens)
        mover = self.mover(work)
        if self.lot:
            self.kv.tidy()
            self.lot.fetch(self.kv, prompt.tokens, owner.client, mover=mover, urgent=urgent)
        if self.saved:
            self.saved.fetch(self.kv, prompt.tokens, owner.client, mover=mover, urgent=urgent)
        if sampling.top_logprobs < 0 and not sampling.grammar:
            # who asks for probabilities wants those of every token; a grammar leaves less to choose from
            prompt = self.further(prompt, mover, sampling)
        plan = self._plan(prompt, work, self.kv.resident(prompt.tokens, mover))
        # what it needs may be given up to make room
        copy = self.shift.copy(plan) if self.shift and plan else None
        extra = max(0, sampling.n_predict) + len(prompt.forced)
        slot = self.kv.take(
            prompt.tokens,
            extra,
            branches=sampling.n,
            client=owner.client,
            mover=mover,
            persist=owner.persist,
            urgent=urgent,
        )
        # those of the words before are of no use to the next key
        slot.rows = {size: row for size, row in slot.rows.items() if size >= start}
        return slot, prompt, self.shift.move(copy, slot, urgent=urgent) if self.shift and copy else None

    def further(self, prompt: Prompt, mover: str | None = None, sampling: Sampling | None = None) -> Prompt:
        """`prompt` and those tokens healing would choose next that are resident, and of which it is kept what they
        predict.

        An answer to a shorter beginning of the same word has evaluated them, or one to the same place.
        """
        slots = [slot for slot in self.kv.slots if slot.shared(prompt.tokens, mover) == len(prompt.tokens)]
        found = (self._further(prompt, slot, slot.open_to(mover), sampling or Sampling()) for slot in slots)
        return max(found, key=lambda it: len(it.tokens), default=prompt)

    def _further(self, prompt: Prompt, slot: Slot, most: int, sampling: Sampling) -> Prompt:
        tokens, forced = list(prompt.tokens), prompt.forced
        expectation = Expectation(self.llama, sampling, prompt.before)
        while forced and len(tokens) < most and {len(tokens), len(tokens) + 1} <= slot.rows.keys():
            token = agreeing(self.llama, expectation.weighed(slot.rows[len(tokens)], forced), forced)
            if (
                token is None
                or token != slot.tokens[len(tokens)]
                or not forced.startswith(piece := self.llama.piece(token))
            ):
                break
            expectation.add(piece)
            tokens.append(token)
            forced = forced[len(piece) :]
        return replace(prompt, tokens=tokens, forced=forced)


class Run:
    """A request at work. The scheduler asks it what to evaluate and tells it what was."""

    def __init__(self, model: Model, work: Work, emit: Callable[[Chunk], None], *, urgent: bool = False) -> None:
        rung = model.choose(work)
        self._model = model
        self._work = work
        self._emit = emit
        self._rung = rung
        self._began = perf_counter()
        self._evaluated = self._shifted = 0
        self._dropped: set[int] = set()
        if work.sampling.grammar:
            # a grammar that is wrong is refused before anything is evaluated for it
            Sampler.of(model.llama, work.sampling, 0).close()
        slot, self._prompt, self._moved = model.take(work.prompts[rung], work, urgent=urgent)
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
        self._model.kv.catch_up(self._slot, tokens, self._model.mover(self._work))
        if self._moved:
            self._shifted += self._moved.settle(self._slot, tokens)
        start = len(self._slot.tokens)
        self._reused += start - before
        if self._moved:
            most = min(most, self._moved.ahead(start) or most)
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
        if self._moved:
            self._moved.close()
        for branch in self.branches:
            if branch.stop is None:
                branch.stop, branch.wanted = "cancelled", []
                branch.close()

    def _usage(self) -> Usage:
        ms = (perf_counter() - self._began) * 1000
        return Usage(self._evaluated, self._reused, prompt_ms=ms, rung=self._rung, shifted=self._shifted)

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
                    self._prompt.before,
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
