"""One candidate: from what the model predicts to tokens, text, and what is evaluated next."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from lsp_harness.engine.decode.expected_names import Expectation
from lsp_harness.engine.decode.kv_cache import Kv, Slot
from lsp_harness.engine.decode.llama import Llama, Logits
from lsp_harness.engine.decode.prompt_lookup import Lookup
from lsp_harness.engine.decode.sampler import Sampler, agreeing, confidence, likeliest
from lsp_harness.engine.decode.token_text import Text
from lsp_harness.inference.request import Chunk, Sampling, Stop, TokenLogprob, Usage


class Branch:
    """A sequence that is being generated. `wanted` is what must be evaluated before it can go on."""

    def __init__(
        self,
        llama: Llama,
        kv: Kv,
        slot: Slot,
        sampling: Sampling,
        index: int,
        before: bytes,
        forced: bytes,
        emit: Callable[[Chunk], None],
        prompt: Usage,
        cost: Callable[[int], float],
    ) -> None:
        self.slot = slot
        self.index = index
        self.stop: Stop | None = None
        self.wanted: list[int] = []
        self._llama = llama
        self._kv = kv
        self._sampling = sampling
        self._forced: bytes = forced
        self._expectation = Expectation(llama, sampling, before)
        self._emit = emit
        self._prompt = prompt
        self._text = Text(sampling.stop)
        self._asked = self._spelled = self._drafted = self._accepted = 0
        self._spells = False
        """What is evaluated next is part of the forced text."""
        self.ahead = sampling.n_predict <= 0
        """Nobody waits for this: it evaluates the forced text, as far as tokens do that end within it."""
        self._began = perf_counter()
        self._lookup = Lookup(cost) if sampling.lookup and kv.cuts else None
        self._sampler = Sampler.of(llama, sampling, index)

    @property
    def usage(self) -> Usage:
        return replace(
            self._prompt,
            evaluated=self._prompt.evaluated + self._spelled,
            generated=self._asked,
            predicted_ms=(perf_counter() - self._began) * 1000,
            drafted=self._drafted,
            accepted=self._accepted,
            spelled=self._spelled,
        )

    def begin(self, logits: Logits) -> None:
        """The prompt is evaluated, and this is what its last token predicts."""
        if (token := self._choose(logits)) is not None:
            self.wanted = [token]

    def draft(self, most: int) -> None:
        """Add up to `most` guesses to what is evaluated next."""
        if self._lookup and not self._spells and len(self.wanted) == 1:
            left = min(most, self._sampling.n_predict - self._asked - 1)
            self.wanted += self._lookup.draft(self.slot.tokens + self.wanted, left)

    def evaluated(self, at: int) -> None:
        """`wanted` was evaluated in the last batch, beginning at its token `at`."""
        tokens, start = self.wanted, len(self.slot.tokens)
        self._kv.grow(self.slot, tokens)
        if self._spells:
            self._spelled += 1
            if self.index == 0:
                # with the next key of the word, this is where it goes on
                self._kv.keep_logits(self.slot, self._llama.logits(at).copy())
        for i, _ in enumerate(tokens):
            token = self._choose(self._llama.logits(at + i))
            right = i + 1 < len(tokens) and token == tokens[i + 1]
            if right and self.stop is None:
                continue
            drafted = len(tokens) - 1
            if drafted and self._lookup:
                self._drafted += drafted
                self._accepted += i
                self._lookup.learn(drafted, i)
                self._kv.shrink(self.slot, start + i + 1)
            self.wanted = [token] if token is not None and self.stop is None else []
            return

    def end(self, stop: Stop) -> None:
        """Say the last word, once, and let the sequence rest."""
        if self.stop is None:
            self.stop = stop
            self.wanted = []
            held = "" if self._text.stopped else self._text.flush()
            self._emit(Chunk(held, stop, self.usage, self.index))
            self.close()

    def close(self) -> None:
        self._sampler.close()
        self._kv.release(self.slot)

    def _choose(self, logits: Logits) -> int | None:
        """The next token, its text handed on; None when it ended this candidate."""
        forced = self._forced
        if self.ahead and not (forced and self._kv.cuts):
            # a memory that cannot be cut would have to begin again if the text goes on otherwise
            self.end("limit")
            return None
        logits = self._expectation.weighed(logits, forced)
        if forced:
            # what goes beyond the forced text must not pass by a grammar
            token = agreeing(self._llama, logits, forced, within=bool(self._sampling.grammar))
        else:
            token = self._sampler.sample(logits)
        if token is None or self._llama.ends(token):
            self.end("eos")
            return None
        piece = self._llama.piece(token)
        self._expectation.add(piece)
        self._spells = bool(forced) and len(piece) <= len(forced)
        if self._spells:
            # what was there already is none of what was asked for
            self._forced = forced[len(piece) :]
            return token
        if self.ahead:
            self.end("limit")
            return None
        self._forced, piece = b"", piece[len(forced) :]
        self._asked += 1
        self._llama.tokens_generated += 1
        told = self._logprobs(logits, token, forced)
        text = self._text.add(piece)
        self._emit(Chunk(text, None, self.usage, self.index, told))
        if self._text.stopped:
            self.end("word")
        elif self._asked >= self._sampling.n_predict:
            self.end("limit")
        elif "\n" in text and self._late:
            self.end("deadline")
        return None if self.stop else token

    @property
    def _late(self) -> bool:
        return 0 < self._sampling.t_max_predict_ms < (perf_counter() - self._began) * 1000

    def _logprobs(self, logits: Logits, token: int, forced: bytes) -> tuple[TokenLogprob, ...]:
        top = self._sampling.top_logprobs
        if top < 0:
            if not self._sampling.confidence:
                return ()
            # what the user typed of a word is no longer a question
            among = self._llama.spelled(forced) if forced else None
            return (TokenLogprob(self._spell(token), confidence(logits, token, among)),)
        own, others = likeliest(logits, token, top)
        return (TokenLogprob(self._spell(token), own, tuple((self._spell(t), p) for t, p in others)),)

    def _spell(self, token: int) -> str:
        return self._llama.piece(token, special=True).decode("utf-8", "replace")
