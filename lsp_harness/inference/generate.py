"""One request, step by step: take a slot, evaluate what is new, sample until something stops it.

A generator that yields after every llama.cpp call, so that the scheduler can let more urgent work go first and a
cancelled request stops at the next token.
"""

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from lsp_harness.inference.kv import Kv
from lsp_harness.inference.llama import Aborted, Llama, Sampler
from lsp_harness.inference.request import Chunk, Sampling, Stop, Usage


@dataclass(frozen=True, slots=True)
class Work:
    """A prompt in tokens; `forced` is text the answer must start with and that is not part of it (healing)."""

    tokens: Sequence[int]
    sampling: Sampling
    forced: bytes = b""


class Text:
    """Bytes of pieces → text to show: whole characters only, never past or within a stop string."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop.encode("utf-8", "replace") for stop in stops if stop]
        self._pending = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.stopped = False

    def add(self, piece: bytes) -> str:
        self._pending += piece
        ends = [at for stop in self._stops if (at := self._pending.find(stop)) >= 0]
        if ends:
            self.stopped = True
            self._pending = self._pending[: min(ends)]
            return self.flush()
        hold = max(
            (size for stop in self._stops for size in range(1, len(stop)) if self._pending.endswith(stop[:size])),
            default=0,
        )
        return self._take(len(self._pending) - hold)

    def flush(self) -> str:
        """What was held back for a stop string that did not come. A character cut in two is never shown."""
        return self._take(len(self._pending))

    def _take(self, size: int) -> str:
        ready, self._pending = self._pending[:size], self._pending[size:]
        return self._decoder.decode(ready)


def generate(
    llama: Llama, kv: Kv, work: Work, emit: Callable[[Chunk], None], cancelled: Callable[[], bool]
) -> Iterator[None]:
    """Run `work`, handing chunks to `emit`; the last has `stop` set."""
    sampling = work.sampling
    slot = kv.take(work.tokens, sampling.n_predict + len(work.forced))
    sampler: Sampler | None = None
    reused = len(slot.tokens)
    evaluated = generated = 0
    began = first = perf_counter()
    text = Text(sampling.stop)
    stop: Stop = "limit"
    try:
        sampler = Sampler(
            llama,
            temperature=sampling.temperature,
            seed=sampling.seed,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            grammar=sampling.grammar,
        )
        rest = list(work.tokens[reused:])
        while rest:
            step, rest = rest[: llama.n_batch], rest[llama.n_batch :]
            llama.eval(slot.seq, len(slot.tokens), step)
            slot.tokens += step
            evaluated += len(step)
            yield
            if cancelled():
                raise Aborted
        first = perf_counter()
        forced = work.forced
        while sampling.n_predict > 0:
            token = llama.best(allowed) if forced and (allowed := llama.spelled(forced)) else sampler.sample()
            if llama.ends(token):
                stop = "eos"
                break
            generated += 1
            llama.tokens_generated += 1
            piece = llama.piece(token)
            if forced:
                forced, piece = (forced[len(piece) :], b"") if len(piece) < len(forced) else (b"", piece[len(forced) :])
            emit(Chunk(text.add(piece), None, Usage(evaluated, reused, generated, (first - began) * 1000)))
            if text.stopped:
                stop = "word"
                break
            if generated >= sampling.n_predict + len(work.forced) or (not forced and generated >= sampling.n_predict):
                break
            if sampling.t_max_predict_ms and (perf_counter() - first) * 1000 > sampling.t_max_predict_ms:
                stop = "deadline"
                break
            llama.eval(slot.seq, len(slot.tokens), [token])
            slot.tokens.append(token)
            yield
            if cancelled():
                raise Aborted
    except Aborted:
        stop = "cancelled"
    finally:
        if sampler:
            sampler.close()
        kv.release(slot)
    now = perf_counter()
    usage = Usage(evaluated, reused, generated, (first - began) * 1000, (now - first) * 1000)
    emit(Chunk(text.flush() if not text.stopped else "", stop, usage))
