"""One candidate: it turns the predictions of the model into tokens and text."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.slot import Slot
from lsp_harness.engine.decode.expected_names import NameBias
from lsp_harness.engine.decode.llama import Llama, Logits
from lsp_harness.engine.decode.prompt_lookup import PromptLookup
from lsp_harness.engine.decode.sampler import Sampler, likeliest_match, token_logprob, top_logprobs
from lsp_harness.engine.decode.token_text import TextDecoder
from lsp_harness.inference.request import Chunk, Sampling, Stop, TokenLogprob, Usage


@dataclass(frozen=True, slots=True)
class BranchContext:
    """The parts that all candidates of a request share."""

    llama: Llama
    kv: KvCache
    sampling: Sampling
    before: bytes
    """The end of the text before the answer."""
    forced: bytes
    """The text the answer must begin with. It is not sent, because it is the end of the prefix (healing)."""
    emit: Callable[[Chunk], None]
    """Receives the text of the candidates."""
    prompt_usage: Usage
    """The usage of the prompt, without any candidate."""
    step_cost: Callable[[int], float]
    """The time of a decode step over n tokens, in any unit."""


class Branch:
    """A candidate that is being generated.

    Args:
        context: The parts that all candidates of the request share.
        slot: The sequence of this candidate.
        index: Number of the candidate.
    """

    def __init__(self, context: BranchContext, slot: Slot, index: int) -> None:
        sampling = context.sampling
        self.slot = slot
        self.index = index
        self.stop: Stop | None = None
        """Why the candidate has ended, if it has."""
        self.next_tokens: list[int] = []
        """The tokens to evaluate in the next step. If there are none, the candidate has ended or waits to begin."""
        self.is_warmup = sampling.n_predict <= 0
        """Whether no answer is wanted. The forced text is then evaluated as far as whole tokens fit in it."""
        self._llama = context.llama
        self._vocabulary = context.llama.vocabulary
        self._kv = context.kv
        self._sampling = sampling
        self._forced: bytes = context.forced
        self._name_bias = NameBias(self._vocabulary, sampling, context.before)
        self._emit = context.emit
        self._prompt_usage = context.prompt_usage
        self._decoder = TextDecoder(sampling.stop)
        self._generated = self._spelled = self._drafted = self._accepted = 0
        self._is_spelling = False
        """Whether the next tokens are part of the forced text."""
        self._start_s = perf_counter()
        self._lookup = PromptLookup(context.step_cost) if sampling.lookup and context.kv.can_truncate else None
        self._sampler = Sampler(self._vocabulary, sampling, index)

    @property
    def usage(self) -> Usage:
        """The usage of the prompt and of this candidate."""
        return replace(
            self._prompt_usage,
            evaluated=self._prompt_usage.evaluated + self._spelled,
            generated=self._generated,
            predicted_ms=(perf_counter() - self._start_s) * 1000,
            drafted=self._drafted,
            accepted=self._accepted,
            spelled=self._spelled,
        )

    def begin(self, logits: Logits) -> None:
        """Choose the first token from the logits after the prompt."""
        if (token := self._choose(logits)) is not None:
            self.next_tokens = [token]

    def add_draft(self, max_tokens: int) -> None:
        """Add up to `max_tokens` drafted tokens to the next step."""
        if self._lookup and not self._is_spelling and len(self.next_tokens) == 1:
            tokens_left = min(max_tokens, self._sampling.n_predict - self._generated - 1)
            self.next_tokens += self._lookup.draft(self.slot.tokens + self.next_tokens, tokens_left)

    def on_evaluated(self, first_index: int) -> None:
        """Choose the next token after a step. `first_index` is the index in the batch of the first of `next_tokens`."""
        tokens, start = self.next_tokens, len(self.slot.tokens)
        self._kv.append(self.slot, tokens)
        if self._is_spelling:
            self._spelled += 1
            if self.index == 0:
                # The next key of the word needs these logits.
                self._kv.keep_logits(self.slot, self._llama.logits(first_index).copy())
        for i, _ in enumerate(tokens):
            token = self._choose(self._llama.logits(first_index + i))
            is_draft_right = i + 1 < len(tokens) and token == tokens[i + 1]
            if is_draft_right and self.stop is None:
                continue
            drafted = len(tokens) - 1
            if drafted and self._lookup:
                self._drafted += drafted
                self._accepted += i
                self._lookup.record(drafted, i)
                self._kv.truncate(self.slot, start + i + 1)
            self.next_tokens = [token] if token is not None and self.stop is None else []
            return

    def end(self, stop: Stop) -> None:
        """Send the last chunk and release the slot, unless the candidate has ended already."""
        if self.stop is None:
            self.stop = stop
            self.next_tokens = []
            text = "" if self._decoder.is_stopped else self._decoder.flush()
            self._emit(Chunk(text, stop, self.usage, self.index))
            self.close()

    def close(self) -> None:
        """Release the slot and free the sampler without a chunk."""
        self._sampler.close()
        self._kv.release(self.slot)

    def _choose(self, logits: Logits) -> int | None:
        """Choose the next token and send its text. Return None if the candidate has ended."""
        forced = self._forced
        if self.is_warmup and not (forced and self._kv.can_truncate):
            # If the answer continues otherwise, a memory that cannot be truncated would have to start again.
            self.end("limit")
            return None
        logits = self._name_bias.apply(logits, forced)
        if forced:
            # The grammar does not see this token, so the token must not go beyond the forced text if there is one.
            within = bool(self._sampling.grammar)
            token = likeliest_match(self._vocabulary, logits, forced, within=within)
        else:
            token = self._sampler.sample(logits)
        if token is None or self._vocabulary.ends_answer(token):
            self.end("eos")
            return None
        piece = self._vocabulary.piece(token)
        self._name_bias.add(piece)
        self._is_spelling = bool(forced) and len(piece) <= len(forced)
        if self._is_spelling:
            # The forced text is in the document already, so it is not part of the answer.
            self._forced = forced[len(piece) :]
            return token
        if self.is_warmup:
            self.end("limit")
            return None
        self._forced, piece = b"", piece[len(forced) :]
        self._generated += 1
        self._llama.generated_tokens += 1
        logprobs = self._logprobs(logits, token, forced)
        text = self._decoder.add(piece)
        self._emit(Chunk(text, None, self.usage, self.index, logprobs))
        if self._decoder.is_stopped:
            self.end("word")
        elif self._generated >= self._sampling.n_predict:
            self.end("limit")
        elif "\n" in text and self._is_past_deadline:
            self.end("deadline")
        return None if self.stop else token

    @property
    def _is_past_deadline(self) -> bool:
        return 0 < self._sampling.t_max_predict_ms < (perf_counter() - self._start_s) * 1000

    def _logprobs(self, logits: Logits, token: int, forced: bytes) -> tuple[TokenLogprob, ...]:
        """Return the log probabilities that the request wants for a token."""
        top = self._sampling.top_logprobs
        if top < 0:
            if not self._sampling.confidence:
                return ()
            # The typed part of a word is certain, so only tokens that agree with it are counted.
            among = self._vocabulary.matching_tokens(forced) if forced else None
            return (TokenLogprob(self._vocabulary.special_text(token), token_logprob(logits, token, among)),)
        own, others = top_logprobs(logits, token, top)
        likeliest = tuple((self._vocabulary.special_text(t), p) for t, p in others)
        return (TokenLogprob(self._vocabulary.special_text(token), own, likeliest),)
