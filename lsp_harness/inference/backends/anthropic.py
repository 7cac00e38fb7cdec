"""The Messages API of Anthropic, which only answers conversations.

It cannot fill in the middle, so there is no completion, and fixes only rewrite functions. `temperature`, `top_p` and
`top_k` are not sent, because the newer models refuse a request that has them.
"""

import json
import math
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import cast

from lsp_harness.errors import EngineBusy, EngineRefused
from lsp_harness.inference.backends.backend import (
    FEATURES,
    NO_INFILL_KEY,
    BackendKind,
    Features,
    Json,
    estimate_counts,
    format_chatml,
    messages_to_json,
    require_success,
)
from lsp_harness.inference.backends.chat_tools import CallAssembly, ToolWire, anthropic_chat_fields
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, error_message
from lsp_harness.inference.request import (
    ChatRequest,
    Chunk,
    Infill,
    ModelRequest,
    Priority,
    Props,
    Sampling,
    Stop,
    ToolChat,
    Usage,
)
from lsp_harness.inference.target import Headers, Provider

API_VERSION = "2023-06-01"
STOP_REASONS: dict[str, Stop] = {
    "max_tokens": "limit",
    "model_context_window_exceeded": "limit",
    "stop_sequence": "word",
    "tool_use": "tool_calls",
}
"""Anthropic's stop reason → ours. Any other reason means that the model ended the answer."""

THINKING_TOKENS = 4096
"""Tokens added to the requested limit, because the thinking of the model counts too.

Only tokens that are used cost money.
"""
NO_INFILL_REASON = (
    "Anthropic's API has no fill-in-the-middle, which completions need; choose another provider or the local engine"
)


class _Exchange:
    """A streamed request to `/v1/messages`. It has one answer, whatever number of candidates was requested.

    With `assembly` the answer may call tools.
    """

    path = "/v1/messages"

    def __init__(self, body: Json, sampling: Sampling, assembly: CallAssembly | None = None) -> None:
        self.body = body
        self._assembly = assembly
        self.complete = False
        self._usage = Usage()
        self._stop: Stop = "eos"
        self._limit_s = sampling.t_max_predict_ms / 1000 or math.inf
        self._started: float | None = None

    def read(self, data: str) -> Iterable[Chunk]:
        event = _read_event(data)
        match event["type"]:
            case "message_start":
                self._update_usage(event["message"].get("usage") or {})
            case "content_block_delta" if event["delta"]["type"] == "text_delta":
                self._started = self._started or monotonic()
                text = event["delta"]["text"]
                yield Chunk(text)
                if "\n" in text and monotonic() - self._started > self._limit_s:
                    self._stop = "deadline"
                    yield from self._end()
            case "content_block_start" | "content_block_delta" if self._assembly:
                yield from self._read_tools(self._assembly, event)
            case "message_delta":
                reason = event["delta"].get("stop_reason")
                if reason == "refusal":
                    raise EngineRefused("the model refused to answer")
                self._stop = STOP_REASONS.get(str(reason), "eos")
                self._update_usage(event.get("usage") or {})
            case "message_stop":
                yield from self._end()
            case _:
                pass

    def finish(self) -> Iterable[Chunk]:
        """Return nothing: the last event of an answer completes it."""
        return ()

    @staticmethod
    def _read_tools(assembly: CallAssembly, event: Json) -> Iterable[Chunk]:
        """Collect the pieces of calls, and pass on the reasoning."""
        match event:
            case {"content_block": {"type": "tool_use", "name": name}}:
                assembly.add(event["index"], "", name, "")
            case {"delta": {"type": "input_json_delta", "partial_json": arguments}}:
                assembly.add(event["index"], "", "", arguments)
            case {"delta": {"type": "thinking_delta", "thinking": thinking}}:
                yield Chunk("", thinking=thinking)
            case _:
                pass

    def _end(self) -> Iterable[Chunk]:
        self.complete = True
        calls, text, stop = (), "", self._stop
        if self._assembly:
            calls = self._assembly.calls
            # an answer beside calls is not the last step
            text = "" if calls else self._assembly.answer
            stop = "eos" if stop == "tool_calls" and not calls else stop
        yield Chunk(text, stop, self._usage, calls=calls)

    def _update_usage(self, counts: Json) -> None:
        """Take the counts of an event, which are cumulative. A count that is missing keeps its value."""
        cache_writes = counts.get("cache_creation_input_tokens") or 0
        self._usage = Usage(
            int(counts["input_tokens"] + cache_writes)
            if counts.get("input_tokens") is not None
            else self._usage.evaluated,
            int(counts.get("cache_read_input_tokens") or self._usage.reused),
            int(counts.get("output_tokens") or self._usage.generated),
        )


class Anthropic:
    """The backend of Anthropic's API."""

    kind = "Anthropic API"

    def __init__(self, model: str) -> None:
        self._model = model

    def features(self) -> Features:
        return dict.fromkeys(FEATURES, False) | {
            "tools": True,
            "deadline": "kept by the client, which closes the connection",
            "tokenize": "estimated from the bytes",
        }

    async def build_exchange(self, request: ModelRequest) -> _Exchange:
        if isinstance(request, Infill):
            raise EngineRefused(NO_INFILL_REASON)
        if not isinstance(request, ChatRequest | ToolChat):
            raise EngineRefused("Anthropic's API takes conversations only, not a text to continue")
        sampling = request.sampling
        body: Json = {
            "model": self._model,
            "max_tokens": sampling.n_predict + THINKING_TOKENS,
            "stream": True,
        }
        assembly = None
        if isinstance(request, ToolChat):
            assembly = CallAssembly(ToolWire(request))
            body |= anthropic_chat_fields(request, assembly.wire)
        else:
            body |= _text_fields(request)
        # the API refuses stop texts that consist of blanks
        if stops := [stop for stop in sampling.stop if stop.strip()]:
            body["stop_sequences"] = stops
        return _Exchange(body, sampling, assembly)

    async def count(self, texts: Sequence[str]) -> list[int]:
        return estimate_counts(texts)

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return format_chatml(messages)

    async def props(self) -> Props:
        raw = {"server": self.kind, "token_counts": "estimated", NO_INFILL_KEY: NO_INFILL_REASON}
        return Props(self._model, 0, 0, raw)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        raise EngineRefused("Anthropic's API has no embeddings")

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False


def _text_fields(request: ChatRequest) -> Json:
    fields: Json = {"messages": messages_to_json([(role, text) for role, text in request.messages if role != "system"])}
    system = "\n\n".join(text for role, text in request.messages if role == "system")
    return fields | {"system": system} if system else fields


def _read_event(data: str) -> Json:
    """Parse an event. Raise EngineError if it reports a failure, or RetryableError if that failure is an overload."""
    body = json.loads(data)
    if isinstance(body, dict) and error_message(body):
        error = cast("Json", body)["error"]
        if error.get("type") in ("overloaded_error", "rate_limit_error"):
            raise RetryableError(EngineBusy(error_message(body)), server_lost=False)
    return require_success(body)


def _make_headers(key: str) -> Headers:
    return {"anthropic-version": API_VERSION} | ({"x-api-key": key} if key else {})


async def _open_backend(endpoint: Endpoint) -> Anthropic:
    if not endpoint.target.model:
        raise EngineRefused(f"{endpoint.name} serves several models; set engine.model to one of them")
    # report a refused key or a missing server now and not at the first fix
    await endpoint.probe_json("/v1/models")
    return Anthropic(endpoint.target.model)


KIND = BackendKind(
    "anthropic",
    _open_backend,
    (
        Provider(
            "anthropic",
            "https://api.anthropic.com",
            ("ANTHROPIC_BASE_URL",),
            ("ANTHROPIC_API_KEY",),
            needs_key=True,
        ),
    ),
    make_headers=_make_headers,
    has_infill=False,
    # the list has pages, and no service has more models than this page holds
    model_list_path="/v1/models?limit=1000",
)
