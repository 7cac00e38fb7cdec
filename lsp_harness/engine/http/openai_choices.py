"""Chunks as OpenAI writes them: `chat.completion` with messages, `text_completion` with texts."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from time import time
from typing import Any

from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk, Stop, TokenLogprob, Usage

Json = dict[str, Any]
FINISHED: dict[Stop, str] = {
    "eos": "stop",
    "word": "stop",
    "limit": "length",
    "deadline": "length",
    "cancelled": "length",
}
NEVER = -9999.0
"""What OpenAI writes for a probability of nothing, which JSON cannot."""


class Choices:
    """One answer: `prompts` prompts with `n` choices each, numbered through."""

    ending = "[DONE]"
    prefix, whole_object, part_object = "", "", ""

    def __init__(self, model: str, *, n: int, prompts: int = 1, usage: bool = False) -> None:
        self._n = n
        self._total = n * prompts
        self._usage = usage
        self._shown: dict[int, int] = {}
        self._ended: dict[int, Usage] = {}
        self._head: Json = {"id": f"{self.prefix}-{secrets.token_hex(12)}", "created": int(time()), "model": model}

    def events(self, chunk: Chunk) -> Iterable[Json]:
        """A delta for the text, one for the end, and with the last of all the usage where it was asked for."""
        begun = self._shown.get(chunk.index)
        if begun is None:
            begun = 0
            yield from (self._part(choice) for choice in self.opening(chunk.index))
        self._shown[chunk.index] = begun + len(chunk.text)
        if chunk.text or chunk.logprobs:
            yield self._part(self.delta(chunk.index, chunk.text, chunk.logprobs, begun))
        if chunk.stop:
            yield self._part(self.delta(chunk.index, "", (), begun, FINISHED[chunk.stop]))
            self._ended[chunk.index] = chunk.usage
            if self._usage and len(self._ended) == self._total:
                counts: Json = {"choices": [], "usage": self._counts(), "timings": self._timings()}
                yield self._head | {"object": self.part_object} | counts

    def whole(self, chunks: Sequence[Chunk]) -> Json:
        """All choices in one object."""
        by_index: defaultdict[int, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            by_index[chunk.index].append(chunk)
        choices: list[Json] = []
        for index, own in sorted(by_index.items()):
            self._ended[index] = own[-1].usage
            text = "".join(chunk.text for chunk in own)
            logprobs = [item for chunk in own for item in chunk.logprobs]
            choices.append(self.choice(index, text, logprobs, FINISHED[own[-1].stop or "cancelled"]))
        counts = {"usage": self._counts(), "timings": self._timings()}
        return self._head | {"object": self.whole_object, "choices": choices} | counts

    def opening(self, index: int) -> Iterable[Json]:
        """What comes before the first text of a choice."""
        return ()

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], begun: int, finish: str | None = None
    ) -> Json:
        """A choice within a stream; `begun` characters of it were sent before."""
        raise NotImplementedError

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        """A whole choice."""
        raise NotImplementedError

    def _part(self, choice: Json) -> Json:
        return self._head | {"object": self.part_object, "choices": [choice]} | ({"usage": None} if self._usage else {})

    def _counts(self) -> Json:
        # a prompt is evaluated once, whatever the number of its choices
        prompts = [usage for index, usage in self._ended.items() if index % self._n == 0]
        cached = sum(usage.reused for usage in prompts)
        prompt = cached + sum(usage.evaluated for usage in prompts)
        completion = sum(usage.generated for usage in self._ended.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def _timings(self) -> Json:
        return dialect.chunk_to_json(Chunk("", None, self._ended[min(self._ended)]))["timings"]


class ChatChoices(Choices):
    """Answers of `/v1/chat/completions`."""

    prefix, whole_object, part_object = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def opening(self, index: int) -> Iterable[Json]:
        delta = {"role": "assistant", "content": ""}
        return ({"index": index, "delta": delta, "logprobs": None, "finish_reason": None},)

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], begun: int, finish: str | None = None
    ) -> Json:
        delta = {} if finish else {"content": text}
        return {"index": index, "delta": delta, "logprobs": _contents(logprobs), "finish_reason": finish}

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        message = {"role": "assistant", "content": text, "refusal": None}
        return {"index": index, "message": message, "logprobs": _contents(logprobs), "finish_reason": finish}


class TextChoices(Choices):
    """Answers of `/v1/completions`."""

    prefix, whole_object, part_object = "cmpl", "text_completion", "text_completion"

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], begun: int, finish: str | None = None
    ) -> Json:
        return {"index": index, "text": text, "logprobs": _columns(logprobs, begun), "finish_reason": finish}

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        return self.delta(index, text, logprobs, 0, finish)


def _contents(logprobs: Sequence[TokenLogprob]) -> Json | None:
    """Log probabilities as chat has them: an object a token."""

    def item(text: str, value: float) -> Json:
        return {"token": text, "logprob": max(value, NEVER), "bytes": list(text.encode("utf-8", "replace"))}

    if not logprobs:
        return None
    content = [item(p.text, p.logprob) | {"top_logprobs": [item(*other) for other in p.top]} for p in logprobs]
    return {"content": content, "refusal": None}


def _columns(logprobs: Sequence[TokenLogprob], begun: int) -> Json | None:
    """Log probabilities as completions have them: a list a column."""
    if not logprobs:
        return None
    offsets = [begun]
    for item in logprobs[:-1]:
        offsets.append(offsets[-1] + len(item.text))
    return {
        "tokens": [item.text for item in logprobs],
        "token_logprobs": [max(item.logprob, NEVER) for item in logprobs],
        "top_logprobs": [{text: max(value, NEVER) for text, value in item.top} for item in logprobs],
        "text_offset": offsets,
    }
