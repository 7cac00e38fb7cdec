"""The form of chunks in the dialect of OpenAI: `chat.completion` for messages, `text_completion` for texts."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from time import time
from typing import Any

from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk, Stop, TokenLogprob, Usage

Json = dict[str, Any]
FINISH_REASONS: dict[Stop, str] = {
    "eos": "stop",
    "word": "stop",
    "limit": "length",
    "deadline": "length",
    "cancelled": "length",
}
MIN_LOGPROB = -9999.0
"""The logarithm of probability 0 in OpenAI's dialect, because JSON has no infinity."""


class Choices:
    """One answer. The choices of all prompts are numbered consecutively.

    Args:
        model: The name of the model.
        n: Number of choices for each prompt.
        prompts: Number of prompts.
        include_usage: Whether a stream ends with the usage.
    """

    ending = "[DONE]"
    id_prefix, whole_object, part_object = "", "", ""

    def __init__(self, model: str, *, n: int, prompts: int = 1, include_usage: bool = False) -> None:
        self._n = n
        self._total = n * prompts
        self._include_usage = include_usage
        self._sent_chars: dict[int, int] = {}
        """Number of characters that were sent, by choice."""
        self._usages: dict[int, Usage] = {}
        """The usage of each choice that has ended."""
        self._head: Json = {"id": f"{self.id_prefix}-{secrets.token_hex(12)}", "created": int(time()), "model": model}

    def events(self, chunk: Chunk) -> Iterable[Json]:
        """Yield a part for the text and one for the end of a choice, and after the last choice the usage if wanted."""
        offset = self._sent_chars.get(chunk.index)
        if offset is None:
            offset = 0
            yield from (self._part(choice) for choice in self.opening(chunk.index))
        self._sent_chars[chunk.index] = offset + len(chunk.text)
        if chunk.text or chunk.logprobs:
            yield self._part(self.delta(chunk.index, chunk.text, chunk.logprobs, offset))
        if chunk.stop:
            yield self._part(self.delta(chunk.index, "", (), offset, FINISH_REASONS[chunk.stop]))
            self._usages[chunk.index] = chunk.usage
            if self._include_usage and len(self._usages) == self._total:
                counts: Json = {"choices": [], "usage": self._counts(), "timings": self._timings()}
                yield self._head | {"object": self.part_object} | counts

    def whole(self, chunks: Sequence[Chunk]) -> Json:
        """Return all choices as one object."""
        by_index: defaultdict[int, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            by_index[chunk.index].append(chunk)
        choices: list[Json] = []
        for index, own in sorted(by_index.items()):
            self._usages[index] = own[-1].usage
            text = "".join(chunk.text for chunk in own)
            logprobs = [item for chunk in own for item in chunk.logprobs]
            choices.append(self.choice(index, text, logprobs, FINISH_REASONS[own[-1].stop or "cancelled"]))
        counts = {"usage": self._counts(), "timings": self._timings()}
        return self._head | {"object": self.whole_object, "choices": choices} | counts

    def opening(self, index: int) -> Iterable[Json]:
        """Return the parts of a stream before the first text of a choice."""
        return ()

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], offset: int, finish: str | None = None
    ) -> Json:
        """Return a part of a choice in a stream.

        Args:
            index: Number of the choice.
            text: The text of the part.
            logprobs: The log probabilities of its tokens.
            offset: Number of characters of the choice that were sent before.
            finish: Why the choice has ended, if it has.
        """
        raise NotImplementedError

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        """Return a whole choice."""
        raise NotImplementedError

    def _part(self, choice: Json) -> Json:
        return (
            self._head
            | {"object": self.part_object, "choices": [choice]}
            | ({"usage": None} if self._include_usage else {})
        )

    def _counts(self) -> Json:
        # A prompt is evaluated once for all of its choices.
        prompts = [usage for index, usage in self._usages.items() if index % self._n == 0]
        cached = sum(usage.reused for usage in prompts)
        prompt = cached + sum(usage.evaluated for usage in prompts)
        completion = sum(usage.generated for usage in self._usages.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def _timings(self) -> Json:
        return dialect.chunk_to_json(Chunk("", None, self._usages[min(self._usages)]))["timings"]


class ChatChoices(Choices):
    """The answer of `/v1/chat/completions`."""

    id_prefix, whole_object, part_object = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def opening(self, index: int) -> Iterable[Json]:
        delta = {"role": "assistant", "content": ""}
        return ({"index": index, "delta": delta, "logprobs": None, "finish_reason": None},)

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], offset: int, finish: str | None = None
    ) -> Json:
        delta = {} if finish else {"content": text}
        return {"index": index, "delta": delta, "logprobs": _chat_logprobs(logprobs), "finish_reason": finish}

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        message = {"role": "assistant", "content": text, "refusal": None}
        return {"index": index, "message": message, "logprobs": _chat_logprobs(logprobs), "finish_reason": finish}


class TextChoices(Choices):
    """The answer of `/v1/completions`."""

    id_prefix, whole_object, part_object = "cmpl", "text_completion", "text_completion"

    def delta(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], offset: int, finish: str | None = None
    ) -> Json:
        return {"index": index, "text": text, "logprobs": _text_logprobs(logprobs, offset), "finish_reason": finish}

    def choice(self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: str) -> Json:
        return self.delta(index, text, logprobs, 0, finish)


def _chat_logprobs(logprobs: Sequence[TokenLogprob]) -> Json | None:
    """Return log probabilities in the form of a chat: one object for each token."""

    def to_json(text: str, value: float) -> Json:
        return {"token": text, "logprob": max(value, MIN_LOGPROB), "bytes": list(text.encode("utf-8", "replace"))}

    if not logprobs:
        return None
    content = [to_json(p.text, p.logprob) | {"top_logprobs": [to_json(*other) for other in p.top]} for p in logprobs]
    return {"content": content, "refusal": None}


def _text_logprobs(logprobs: Sequence[TokenLogprob], offset: int) -> Json | None:
    """Return log probabilities in the form of a text: one list for each field."""
    if not logprobs:
        return None
    offsets = [offset]
    for item in logprobs[:-1]:
        offsets.append(offsets[-1] + len(item.text))
    return {
        "tokens": [item.text for item in logprobs],
        "token_logprobs": [max(item.logprob, MIN_LOGPROB) for item in logprobs],
        "top_logprobs": [{text: max(value, MIN_LOGPROB) for text, value in item.top} for item in logprobs],
        "text_offset": offsets,
    }
