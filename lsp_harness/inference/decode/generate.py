"""One request: its prompt evaluated chunk by chunk, then its candidates over that one prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from lsp_harness.inference.decode.branch import Branch
from lsp_harness.inference.decode.kv import Kv, Slot, common
from lsp_harness.inference.decode.llama import Llama, Logits, Sampler
from lsp_harness.inference.decode.machine import Machine
from lsp_harness.inference.decode.parked import Lot
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

    def take(self, prompt: Prompt, work: Work) -> tuple[Slot, Prompt]:
        """A busy slot for `prompt`, with what is parked or on disk of it if that is more than what is in the cells; and
        the prompt with what is known of its healing (see `further`)."""
        sampling, owner = work.sampling, work.owner
        if self.lot:
            self.kv.tidy()
            self.lot.fetch(self.kv, prompt.tokens, owner.client)
        if self.saved:
            self.saved.fetch(self.kv, prompt.tokens, owner.client)
        if sampling.n_predict > 0 and sampling.top_logprobs < 0:
            # who asks for probabilities wants those of every token
            prompt = self.further(prompt)
        extra = sampling.n_predict + len(prompt.forced) if sampling.n_predict > 0 else 0
        slot = self.kv.take(prompt.tokens, extra, branches=sampling.n, client=owner.client, persist=owner.persist)
        return slot, prompt

    def further(self, prompt: Prompt) -> Prompt:
        """`prompt` and the tokens with which an earlier answer to it spelled the beginning of its `forced` text.

        Healing takes the likeliest token that agrees with the text. When more of a word is typed, fewer tokens agree:
        one that was the likeliest and still agrees is the likeliest again. So only the rest needs to be spelled. With
        blanks it is not so (see `Llama.spelled`), and they are spelled in a step anyway.
        """
        start, forced = len(prompt.tokens), prompt.forced
        tail: Sequence[int] = ()
        for slot in self.kv.slots:
            at, given = slot.healed or (-1, b"")
            alike = forced and forced.startswith(given) and not (_blanks(forced) or _blanks(given))
            if alike and at == start and common(slot.tokens, prompt.tokens) == start:
                tail = max(tail, self._spelling(slot.tokens[start:], forced), key=len)
        spelled = b"".join(self.llama.piece(token) for token in tail)
        return Prompt([*prompt.tokens, *tail], forced[len(spelled) :]) if tail else prompt

    def _spelling(self, tokens: Sequence[int], text: bytes) -> Sequence[int]:
        """As many of `tokens` as spell a beginning of `text`."""
        size = 0
        for number, token in enumerate(tokens):
            piece = self.llama.piece(token)
            if not piece or not text.startswith(piece, size):
                return tokens[:number]
            size += len(piece)
        return tokens


def _blanks(text: bytes) -> bool:
    """Whether healing chooses among other tokens than all those that agree with the text."""
    return len(text) > 1 and text.isspace()


class Run:
    """A request at work. The scheduler asks it what to evaluate and tells it what was."""

    def __init__(self, model: Model, work: Work, emit: Callable[[Chunk], None]) -> None:
        rung = model.choose(work)
        self._model = model
        self._work = work
        self._emit = emit
        self._asked = work.prompts[rung]
        self._rung = rung
        self._began = perf_counter()
        self._evaluated = 0
        self._dropped: set[int] = set()
        if work.sampling.grammar:
            # a grammar that is wrong is refused before anything is evaluated for it
            Sampler.of(model.llama, work.sampling, 0).close()
        slot, self._prompt = model.take(self._asked, work)
        self._slot: Slot | None = slot
        self._reused = len(slot.tokens)
        self.branches: list[Branch] = []
        if slot.logits is not None and len(slot.tokens) == len(self._prompt.tokens):
            self._branch(slot.logits)

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
        likeliest = work.sampling.temperature <= 0 and not work.sampling.grammar
        for index in range(work.sampling.n):
            own = slot if index == 0 else model.kv.fork(slot)
            own.healed = (len(self._asked.tokens), self._asked.forced) if likeliest else None
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
