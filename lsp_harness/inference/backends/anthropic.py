"""Anthropic's Messages API: conversations only.

It has no form for a hole, so a fix comes from rewrites alone and nothing is completed. Temperatures, top_p and top_k are
not sent: the newer models refuse a request that has them.
"""

import json
import math
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import cast

from lsp_harness.errors import EngineBusy, EngineRefused
from lsp_harness.inference.backends import conversation
from lsp_harness.inference.backends.backend import (
    FEATURES,
    NO_INFILL_KEY,
    Features,
    Json,
    estimate_counts,
    require_success,
)
from lsp_harness.inference.backends.endpoint import RetryableError, error_message
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props, Sampling, Stop, Usage

STOP_REASONS: dict[str, Stop] = {
    "max_tokens": "limit",
    "model_context_window_exceeded": "limit",
    "stop_sequence": "word",
}
"""Of their stop reasons; any other is the model's own end."""

THINKING_TOKENS = 4096
"""Tokens allowed beyond those that were asked for: what the model thinks counts too. Only what is used is paid for."""
NO_INFILL_REASON = (
    "Anthropic's API has no fill-in-the-middle, which completions need; choose another provider or the local engine"
)


class _Exchange:
    """`/v1/messages`, streamed. One answer, however many candidates were asked for."""

    path = "/v1/messages"

    def __init__(self, body: Json, sampling: Sampling) -> None:
        self.body = body
        self.complete = False
        self._usage = Usage()
        self._stop: Stop = "eos"
        self._seconds = sampling.t_max_predict_ms / 1000 or math.inf
        self._began: float | None = None

    def read(self, data: str) -> Iterable[Chunk]:
        event = _read_event(data)
        match event["type"]:
            case "message_start":
                self._count(event["message"].get("usage") or {})
            case "content_block_delta" if event["delta"]["type"] == "text_delta":
                self._began = self._began or monotonic()
                text = event["delta"]["text"]
                yield Chunk(text)
                if "\n" in text and monotonic() - self._began > self._seconds:
                    self._stop = "deadline"
                    yield from self._end()
            case "message_delta":
                reason = event["delta"].get("stop_reason")
                if reason == "refusal":
                    raise EngineRefused("the model refused to answer")
                self._stop = STOP_REASONS.get(str(reason), "eos")
                self._count(event.get("usage") or {})
            case "message_stop":
                yield from self._end()
            case _:
                pass

    def ended(self) -> Iterable[Chunk]:
        """Nothing is owed: an answer is complete with its own last event."""
        return ()

    def _end(self) -> Iterable[Chunk]:
        self.complete = True
        yield Chunk("", self._stop, self._usage)

    def _count(self, told: Json) -> None:
        """Counts are cumulative; those that an event leaves out are as they were."""
        written = told.get("cache_creation_input_tokens") or 0
        self._usage = Usage(
            int(told["input_tokens"] + written) if told.get("input_tokens") is not None else self._usage.evaluated,
            int(told.get("cache_read_input_tokens") or self._usage.reused),
            int(told.get("output_tokens") or self._usage.generated),
        )


class Anthropic:
    """A server of that dialect."""

    kind = "Anthropic API"

    def __init__(self, model: str) -> None:
        self._model = model

    def features(self) -> Features:
        return dict.fromkeys(FEATURES, False) | {
            "deadline": "kept by the client, which closes the connection",
            "tokenize": "estimate_counts from the bytes",
        }

    def ask(self, request: Continuation | Infill) -> _Exchange:
        if isinstance(request, Infill):
            raise EngineRefused(NO_INFILL_REASON)
        messages = conversation.of_prompt(request.prompt)
        if messages is None:
            raise EngineRefused("Anthropic's API takes conversations only, not a text to continue")
        sampling = request.sampling
        body: Json = {
            "model": self._model,
            "max_tokens": sampling.n_predict + THINKING_TOKENS,
            "messages": [message for message in messages if message["role"] != "system"],
            "stream": True,
        }
        if system := "\n\n".join(message["content"] for message in messages if message["role"] == "system"):
            body["system"] = system
        # stops of blanks alone are refused
        if stops := [stop for stop in sampling.stop if stop.strip()]:
            body["stop_sequences"] = stops
        return _Exchange(body, sampling)

    async def count(self, texts: Sequence[str]) -> list[int]:
        return estimate_counts(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return conversation.to_prompt(messages)

    async def props(self) -> Props:
        return Props(
            self._model, 0, 0, {"server": self.kind, "token_counts": "estimate_counts", NO_INFILL_KEY: NO_INFILL_REASON}
        )

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        raise EngineRefused("Anthropic's API has no embeddings")

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False


def _read_event(data: str) -> Json:
    """Raises EngineError for an event that tells of a failure, RetryableError where that is an overload."""
    body = json.loads(data)
    if isinstance(body, dict) and error_message(body):
        error = cast("Json", body)["error"]
        if error.get("type") in ("overloaded_error", "rate_limit_error"):
            raise RetryableError(EngineBusy(error_message(body)), gone=False)
    return require_success(body)
