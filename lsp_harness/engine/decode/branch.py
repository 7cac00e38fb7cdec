"""One candidate: it turns predictions of the model, and drafts from the prompt, into tokens and text.

A draft is what followed the last tokens at an earlier place: an edit mostly repeats its original. The batch that
evaluates a draft also verifies it. A draft decides when tokens come. Which ones come only depends on it by the rounding
of a larger batch, if two tokens are nearly as likely.
"""

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from lsp_harness.engine.cache.kv_cache import KvCache
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.engine.decode.expected_names import NameBias
from lsp_harness.engine.decode.llama import Llama, Logits
from lsp_harness.engine.decode.sampler import Sampler, compute_logprob, find_likeliest_match, top_logprobs
from lsp_harness.inference.request import Chunk, Sampling, Stop, TokenLogprob, Usage


class TextDecoder:
    """A decoder from the bytes of tokens to text.

    The text has whole characters only, and nothing of a stop string or after it.

    Args:
        stops: The stop strings.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop.encode("utf-8", "replace") for stop in stops if stop]
        self._pending = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_stopped = False
        """Whether a stop string has occurred."""

    def add(self, piece: bytes) -> str:
        """Add the bytes of a token. Return the text that can be shown now."""
        self._pending += piece
        positions = [position for stop in self._stops if (position := self._pending.find(stop)) >= 0]
        if positions:
            self.is_stopped = True
            self._pending = self._pending[: min(positions)]
            return self.flush()
        withheld = max(
            (size for stop in self._stops for size in range(1, len(stop)) if self._pending.endswith(stop[:size])),
            default=0,
        )
        return self._take(len(self._pending) - withheld)

    def flush(self) -> str:
        """Return the text that was withheld for an incomplete stop string. Incomplete characters are dropped."""
        return self._take(len(self._pending))

    def _take(self, size: int) -> str:
        ready, self._pending = self._pending[:size], self._pending[size:]
        return self._decoder.decode(ready)


class PromptLookup:
    """The drafts of one candidate: tokens of the prompt that may follow its own last tokens.

    Args:
        step_cost: The time of a decode step over n tokens, in any unit.
    """

    GRAM_TOKENS = 3
    """Number of last tokens that are looked up."""
    DRAFT_LENGTHS = (2, 3, 5, 7, 11, 15)
    """Lengths that are considered. With the token before them they are batch sizes at which CPUs are efficient."""
    INITIAL_ACCEPT_RATE = 0.9
    """Assumed share of accepted tokens. The rate slowly returns to it while there are no drafts."""
    MAX_MATCH_TOKENS = 16
    """Number of tokens that are compared at most at the two places."""
    MIN_SPEEDUP = 1.05
    """A longer draft must give so many times the tokens per time."""

    def __init__(self, step_cost: Callable[[int], float]) -> None:
        self._step_cost = step_cost
        self._places: dict[tuple[int, ...], list[int]] = {}
        """End positions of each group of `GRAM_TOKENS` tokens."""
        self._indexed_tokens = 0
        self._last_place = 0
        """The end of the text that the last draft repeated."""
        self._accept_rate = self.INITIAL_ACCEPT_RATE

    def draft(self, tokens: Sequence[int], max_tokens: int) -> list[int]:
        """Return up to `max_tokens` tokens that are likely to follow `tokens`, or none if a draft would cost time."""
        for end in range(max(self._indexed_tokens, self.GRAM_TOKENS), len(tokens)):
            # The last group is left out because it is the one that is looked up.
            self._places.setdefault(tuple(tokens[end - self.GRAM_TOKENS : end]), []).append(end)
        self._indexed_tokens = max(self._indexed_tokens, len(tokens))
        self._accept_rate += 0.02 * (self.INITIAL_ACCEPT_RATE - self._accept_rate)
        places = self._places.get(tuple(tokens[-self.GRAM_TOKENS :]))
        if not places or len(tokens) < self.GRAM_TOKENS:
            return []
        # A copied text usually goes on where it was, so the first place from there on is preferred.
        place = next((p for p in places if p >= self._last_place), places[-1])
        equal = self.GRAM_TOKENS
        while equal < min(self.MAX_MATCH_TOKENS, place) and tokens[place - equal - 1] == tokens[-equal - 1]:
            equal += 1
        # The more tokens before the two places are equal, the likelier the next ones are.
        rate = (self._accept_rate + 1 - 0.5 / (equal - 1)) / 2
        size = self._best_length(min(max_tokens, len(tokens) - place), rate)
        if size:
            self._last_place = place
        return list(tokens[place : place + size])

    def record(self, drafted: int, accepted: int) -> None:
        """Record how many tokens of the last draft were accepted."""
        self._last_place += accepted
        tried = min(drafted, accepted + 1)
        if tried:
            self._accept_rate += (1 - 0.85**tried) * (accepted / tried - self._accept_rate)
        self._accept_rate = min(0.97, max(0.05, self._accept_rate))

    def _best_length(self, max_tokens: int, rate: float) -> int:
        """Return the length that gives most tokens per time if each token is accepted with probability `rate`."""
        best, length = 1 / self._step_cost(1), 0
        for n in self.DRAFT_LENGTHS:
            if n > max_tokens:
                break
            expected_tokens = sum(rate**i for i in range(n + 1))
            if (speed := expected_tokens / self._step_cost(n + 1)) > best * self.MIN_SPEEDUP:
                best, length = speed, n
        return length


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
            token = find_likeliest_match(self._vocabulary, logits, forced, within=within)
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
        logprobs = self._list_logprobs(logits, token, forced)
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

    def _list_logprobs(self, logits: Logits, token: int, forced: bytes) -> tuple[TokenLogprob, ...]:
        """Return the log probabilities that the request wants for a token."""
        top = self._sampling.top_logprobs
        if top < 0:
            if not self._sampling.confidence:
                return ()
            # The typed part of a word is certain, so only tokens that agree with it are counted.
            among = self._vocabulary.matching_tokens(forced) if forced else None
            return (TokenLogprob(self._vocabulary.special_text(token), compute_logprob(logits, token, among)),)
        own, others = top_logprobs(logits, token, top)
        likeliest = tuple((self._vocabulary.special_text(t), p) for t, p in others)
        return (TokenLogprob(self._vocabulary.special_text(token), own, likeliest),)
