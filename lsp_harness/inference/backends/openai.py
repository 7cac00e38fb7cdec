"""The protocol of OpenAI: vLLM, and every service that says it is compatible."""

import asyncio
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.inference.backends.backend import (
    BYTES_PER_TOKEN,
    FEATURES,
    NO_INFILL_KEY,
    BackendKind,
    Exchange,
    Features,
    Json,
    estimate_counts,
    format_chatml,
    messages_to_json,
    require_success,
)
from lsp_harness.inference.backends.chat_tools import CallAssembly, ToolWire, openai_chat_fields
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.model_family import Family, find_family, infill_problem
from lsp_harness.inference.infill_text import BlankStripper, split_trailing_blanks
from lsp_harness.inference.request import (
    ChatRequest,
    Chunk,
    Infill,
    ModelRequest,
    Priority,
    Props,
    Sampling,
    Stop,
    TokenLogprob,
    ToolChat,
    Usage,
)
from lsp_harness.inference.target import Provider
from lsp_harness.text.wording import format_count

MAX_CONCURRENT_COUNTS = 8
"""Texts that vLLM tokenizes at the same time."""
MAX_NAMES_IN_MESSAGE = 5
"""Model names that an error message lists."""
SAMPLING_FIELDS = frozenset({"temperature", "top_p", "seed", "n", "stop"})
MAX_STOPS = 4
"""Stop texts of a request. OpenAI refuses more."""


class _Exchange:
    """A streamed request to `/v1/completions` or `/v1/chat/completions`.

    With `hide_text` the text is not passed on: the server generated it although none was requested. With `assembly` the
    answer may call tools.
    """

    def __init__(
        self,
        path: str,
        body: Json,
        sampling: Sampling,
        blanks: str = "",
        assembly: CallAssembly | None = None,
        *,
        hide_text: bool = False,
    ) -> None:
        self.path = path
        self.body = body
        self.complete = False
        self._open = set(range(sampling.n))
        self._last: Chunk | None = None
        """The last chunk of the last candidate. It waits for the usage, which comes after it."""
        self._usage = Usage()
        self._strippers = [BlankStripper(blanks) for _ in range(sampling.n)] if blanks else []
        self._assembly = assembly
        self._held_text = ""
        """The text of an answer that is only complete at its end."""
        self._hide_text = hide_text
        self._limit_s = sampling.t_max_predict_ms / 1000 or math.inf
        self._started: float | None = None
        self._is_over_time = False
        """The time limit is over. The client stops reading, because the service would go on."""

    def read(self, data: str) -> Iterable[Chunk]:
        if data == "[DONE]":
            yield from self.finish()
            # a service may return fewer candidates than were requested
            self.complete = True
            return
        body = require_success(json.loads(data))
        if usage := cast("Json | None", body.get("usage")):
            self._usage = _read_usage(usage)
        for choice in cast("list[Json]", body.get("choices") or []):
            yield from self._read_choice(choice)
        if self._is_over_time and not self._open:
            yield from self.finish()
            self.complete = True

    def finish(self) -> Iterable[Chunk]:
        """Return the last chunk of the last candidate, which waited for the usage."""
        self.complete = not self._open or self._last is not None
        if self._last and not self._assembly:
            yield replace(self._last, usage=self._usage)
        elif self._last and self._assembly:
            calls, stop = self._assembly.calls, self._last.stop
            # some services end an answer with calls like any other
            stop = "tool_calls" if calls and stop == "eos" else stop
            text = self._assembly.wire.unwrap(self._held_text)
            yield replace(self._last, text=text, stop=stop, usage=self._usage, calls=calls)

    def _read_choice(self, choice: Json) -> Iterable[Chunk]:
        index = int(choice.get("index") or 0)
        if index not in self._open:
            return
        delta = cast("Json", choice.get("delta") or {})
        text = str(choice.get("text") or delta.get("content") or "")
        self._started = monotonic() if self._started is None else self._started
        if self._strippers:
            text = self._strippers[index].strip(text)
        logprobs = _read_logprobs(choice.get("logprobs"))
        if self._assembly:
            if choice.get("finish_reason") == "content_filter":
                raise EngineRefused("the service withheld the answer, because of a filter of contents")
            yield from self._read_tools(self._assembly, delta)
            if self._assembly.wire.holds_text:
                self._held_text, text = self._held_text + text, ""
        if (text or logprobs) and not self._hide_text:
            yield Chunk(text, None, Usage(), index, logprobs)
        if stop := _read_stop(choice) or self._check_time(text):
            self._open.discard(index)
            if self._open:
                yield Chunk("", stop, Usage(), index)
            else:
                self._last = Chunk("", stop, Usage(), index)

    @staticmethod
    def _read_tools(assembly: CallAssembly, delta: Json) -> Iterable[Chunk]:
        """Collect the pieces of calls, and pass on the reasoning, which has two names."""
        if refusal := delta.get("refusal"):
            raise EngineRefused(f"the model refused to answer: {refusal}")
        if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
            yield Chunk("", thinking=str(thinking))
        for piece in cast("list[Json]", delta.get("tool_calls") or []):
            function = cast("Json", piece.get("function") or {})
            id, name = str(piece.get("id") or ""), str(function.get("name") or "")
            assembly.add(piece.get("index"), id, name, function.get("arguments"))

    def _check_time(self, text: str) -> Stop | None:
        """Return `deadline` if a line ends after the time limit."""
        if "\n" not in text or monotonic() - (self._started or 0.0) <= self._limit_s:
            return None
        self._is_over_time = True
        return "deadline"


class OpenAI:
    """The backend of a server with OpenAI's protocol. `vllm` is the version of vLLM, or empty for another server."""

    def __init__(self, endpoint: Endpoint, model: str, *, vllm: str = "", n_ctx: int = 0) -> None:
        self._endpoint = endpoint
        self._model = model
        self._vllm = vllm
        self._n_ctx = n_ctx
        self.kind = f"vLLM {vllm}" if vllm else "OpenAI-compatible server"

    def features(self) -> Features:
        try:
            family = self._family()
            infill: bool | str = f"by the tokens of {family.name}" if family else "by the `suffix` parameter"
        except EngineRefused:
            infill = False
        is_vllm = bool(self._vllm)
        return dict.fromkeys(FEATURES, False) | {
            "infill": infill,
            "heal": "blanks before the cursor are left out of the prompt and removed from the answer; a half-typed "
            "word is not completed",
            "lookup": "as the server was started (--speculative-config)" if is_vllm else False,
            "grammar": is_vllm,
            # calls that a grammar forms need no parser of the server
            "tools": not is_vllm,
            "n": True if is_vllm else "if the service returns as many as requested",
            "logprobs": True if is_vllm else "if the service returns them",
            "deadline": "kept by the client, which closes the connection",
            "warm": is_vllm,
            "tokenize": True if is_vllm else f"estimated: {BYTES_PER_TOKEN} bytes a token",
            "embedding": "only if the served model embeds",
        }

    async def build_exchange(self, request: ModelRequest) -> Exchange:
        match request:
            case Infill():
                return self._infill_exchange(request)
            case ChatRequest():
                return self._chat_exchange(request)
            case ToolChat():
                return self._tool_exchange(request)
            case _:
                return self._completion_exchange(request.prompt, request.sampling)

    def _infill_exchange(self, request: Infill) -> Exchange:
        context, blanks = request.context, ""
        if request.heal:
            prefix, blanks = split_trailing_blanks(context.prefix)
            context = replace(context, prefix=prefix)
        family = self._family()
        if family:
            body: Json = {"prompt": family.prompt(context)}
        else:
            extra = "".join(text for _, text in context.extra)
            body = {"prompt": extra + context.prefix, "suffix": context.suffix}
        body |= self._sampling_fields(request.sampling, family.recipe.stops if family else ())
        return self._exchange("/v1/completions", body, request.sampling, blanks)

    def _chat_exchange(self, request: ChatRequest) -> Exchange:
        body = {"messages": messages_to_json(request.messages)} | self._sampling_fields(request.sampling, (), chat=True)
        limit_field = self._endpoint.target.provider.limit_field
        return self._exchange("/v1/chat/completions", body, request.sampling, limit_field=limit_field)

    def _tool_exchange(self, request: ToolChat) -> Exchange:
        wire, provider = ToolWire(request), self._endpoint.target.provider
        body = self._sampling_fields(request.sampling, (), chat=True)
        if provider.reasons:
            body = {key: value for key, value in body.items() if key not in SAMPLING_FIELDS}
        body |= openai_chat_fields(request, wire, provider)
        return _Exchange("/v1/chat/completions", body, request.sampling, assembly=CallAssembly(wire))

    def _completion_exchange(self, prompt: str | tuple[int | str, ...], sampling: Sampling) -> Exchange:
        parts: str | list[int | str] = prompt if isinstance(prompt, str) else list(prompt)
        if not isinstance(prompt, str):
            kinds = {type(part) for part in prompt}
            if len(kinds) != 1:
                raise EngineRefused("this server takes a prompt of text or of tokens, not a mixture")
            if kinds == {str}:
                parts = "".join(cast("tuple[str, ...]", prompt))
        body = {"prompt": parts} | self._sampling_fields(sampling, ())
        if self._vllm:
            body["add_special_tokens"] = False
        return self._exchange("/v1/completions", body, sampling)

    def _exchange(
        self, path: str, body: Json, sampling: Sampling, blanks: str = "", limit_field: str = "max_tokens"
    ) -> Exchange:
        body[limit_field] = max(1, sampling.n_predict)
        return _Exchange(path, body, sampling, blanks, hide_text=sampling.n_predict == 0)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Count by the tokenizer of vLLM. For another server each count is an `EstimatedCount`."""
        if not self._vllm:
            return estimate_counts(texts)
        limit = asyncio.Semaphore(MAX_CONCURRENT_COUNTS)

        async def count_one(text: str) -> int:
            body = {"model": self._model, "prompt": text, "add_special_tokens": False}
            async with limit:
                return int((await self._endpoint.call("POST", "/tokenize", body))["count"]) if text else 0

        return await asyncio.gather(*(count_one(text) for text in texts))

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        return format_chatml(messages)

    async def props(self) -> Props:
        """Return the properties of the server that are known without a request. `token_counts` says whether the counts
        are exact.
        """
        counts = "exact" if self._vllm else "estimated"
        raw = {"server": self.kind, "token_counts": counts}
        if why := infill_problem(self._endpoint.target.fim, self._model):
            raw[NO_INFILL_KEY] = why
        return Props(self._model, self._n_ctx, 0, raw)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        body: Json = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._vllm:
            body["truncate_prompt_tokens"] = max_tokens
        answer = cast("Json", await self._endpoint.call("POST", "/v1/embeddings", body))
        rows = sorted(cast("list[Json]", answer.get("data") or []), key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise EngineError(
                f"{self._endpoint.name} returned {format_count(len(rows), 'vector')} for "
                f"{format_count(len(texts), 'text')}"
            )
        return [[float(value) for value in row["embedding"]] for row in rows]

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False

    def _family(self) -> Family | None:
        return find_family(self._endpoint.target.fim, self._model)

    def _sampling_fields(self, sampling: Sampling, stops: Sequence[str], *, chat: bool = False) -> Json:
        body: Json = {
            "model": self._model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "n": sampling.n,
            "stop": [*sampling.stop, *stops],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        # other services may refuse a field that they do not have, and then there is no suggestion
        logprobs = max(sampling.top_logprobs, 0 if sampling.confidence and self._vllm else -1)
        if logprobs >= 0:
            body |= {"logprobs": True, "top_logprobs": logprobs} if chat else {"logprobs": logprobs}
        if not self._vllm:
            body["stop"] = body["stop"][:MAX_STOPS]
            return body
        # vLLM only sees a stop that is a special token if the answer contains special tokens
        body |= {"top_k": sampling.top_k, "skip_special_tokens": not stops}
        if sampling.grammar:
            body |= (
                {"guided_grammar": sampling.grammar}
                if _is_older(self._vllm, (0, 12))
                else {"structured_outputs": {"grammar": sampling.grammar}}
            )
        return body


def _is_older(version: str, than: tuple[int, int]) -> bool:
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return bool(numbers) and tuple(numbers) < than


def _read_usage(counts: Json) -> Usage:
    details = cast("Json", counts.get("prompt_tokens_details") or {})
    reused = int(details.get("cached_tokens") or 0)
    return Usage(int(counts.get("prompt_tokens") or 0) - reused, reused, int(counts.get("completion_tokens") or 0))


def _read_stop(choice: Json) -> Stop | None:
    match choice.get("finish_reason"):
        case None | "":
            return None
        case "length":
            return "limit"
        case "tool_calls" | "function_call":
            return "tool_calls"
        case "stop":
            # vLLM reports which stop text it was; other services do not distinguish it from the end by the model
            return "word" if isinstance(choice.get("stop_reason"), str) else "eos"
        case _:
            return "eos"


def _read_logprobs(body: Json | None) -> tuple[TokenLogprob, ...]:
    """Read both forms: rows under `content` (chat), and columns under `tokens`."""
    body = body or {}
    rows = cast("list[Json]", body.get("content") or [])
    if rows:
        return tuple(
            TokenLogprob(
                str(row["token"]),
                float(row["logprob"]),
                tuple((str(top["token"]), float(top["logprob"])) for top in row.get("top_logprobs") or ()),
            )
            for row in rows
        )
    tokens = cast("list[Any]", body.get("tokens") or [])
    values = cast("list[Any]", body.get("token_logprobs") or [])
    tops = cast("list[dict[str, float] | None]", body.get("top_logprobs") or [None] * len(tokens))
    return tuple(
        TokenLogprob(str(token), float(value or 0), tuple((top or {}).items()))
        for token, value, top in zip(tokens, values, tops, strict=False)
    )


async def _read_model_rows(endpoint: Endpoint) -> list[Json] | None:
    """Return the rows of `/v1/models`, or None if the server has no such list."""
    models: Any = await endpoint.probe_json("/v1/models")
    rows: Any = cast("Json", models).get("data") if isinstance(models, dict) else None
    return cast("list[Json]", rows) if isinstance(rows, list) else None


async def _recognize(endpoint: Endpoint) -> bool:
    return await _read_model_rows(endpoint) is not None


async def _open_backend(endpoint: Endpoint) -> OpenAI | None:
    """Return the backend of a server that lists its models, or of a server that the settings say to be of this kind."""
    target = endpoint.target
    rows = await _read_model_rows(endpoint)
    if rows is not None:
        return await _choose_model(endpoint, rows)
    return OpenAI(endpoint, target.model) if target.dialect == KIND.dialect and target.model else None


async def _choose_model(endpoint: Endpoint, rows: list[Json]) -> OpenAI:
    model_setting = endpoint.target.model
    names = [str(row.get("id", "")) for row in rows]
    if not model_setting and len(names) != 1:
        choices = ", ".join(names[:MAX_NAMES_IN_MESSAGE]) + (", …" if len(names) > MAX_NAMES_IN_MESSAGE else "")
        raise EngineRefused(
            f"{endpoint.name} serves {len(names)} models; set engine.model to one of {choices or 'its own'}"
        )
    model = model_setting or names[0]
    row = next((row for row in rows if row.get("id") == model), Json())
    if row.get("owned_by") != "vllm":
        return OpenAI(endpoint, model)
    version: Any = await endpoint.probe_json("/version")
    vllm = str(cast("Json", version).get("version", "")) if isinstance(version, dict) else ""
    return OpenAI(endpoint, model, vllm=vllm or "of an unknown version", n_ctx=int(row.get("max_model_len") or 0))


KIND = BackendKind(
    "openai",
    _open_backend,
    (
        Provider(
            "openai",
            "https://api.openai.com/v1",
            ("OPENAI_BASE_URL",),
            ("OPENAI_API_KEY",),
            needs_key=True,
            limit_field="max_completion_tokens",
            reasons=True,
            joins_schema=True,
        ),
        Provider(
            "openrouter",
            "https://openrouter.ai/api/v1",
            (),
            ("OPENROUTER_API_KEY",),
            needs_key=True,
            reasons=True,
            joins_schema=True,
        ),
        # Ollama applies the template of the model to every prompt, so only the template can place the suffix
        Provider(
            "ollama",
            "http://127.0.0.1:11434/v1",
            ("LSP_HARNESS_OLLAMA_BASE_URL", "LEHARNESS_OLLAMA_BASE_URL"),
            fim="suffix",
        ),
        Provider("lmstudio", "http://127.0.0.1:1234/v1"),
        Provider("vllm", "http://127.0.0.1:8000/v1", (), ("VLLM_API_KEY",)),
    ),
    _recognize,
)
