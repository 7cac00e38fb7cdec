"""The routes of OpenAI: `/v1/chat/completions`, `/v1/completions`, `/v1/models`, and the form of their chunks.

Unknown fields are ignored, as other servers do, if they would not change the answer. A field that would change the
answer but is not supported is refused by its name.
"""

import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import time
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.http.engine_host import EngineHost
from lsp_harness.engine.http.response import ChunkResponse, make_error_response, make_json_endpoint
from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.json_schema import from_json_schema
from lsp_harness.inference.request import (
    Chunk,
    Continuation,
    Infill,
    InfillContext,
    Owner,
    Sampling,
    Stop,
    TokenLogprob,
    Usage,
)

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
        """Yield the stream events of a choice: its text, its end, and after the last choice the usage, if wanted."""
        offset = self._sent_chars.get(chunk.index)
        if offset is None:
            offset = 0
            yield from (self._make_part(choice) for choice in self.opening(chunk.index))
        self._sent_chars[chunk.index] = offset + len(chunk.text)
        if chunk.text or chunk.logprobs:
            yield self._make_part(self.delta(chunk.index, chunk.text, chunk.logprobs, offset))
        if chunk.stop:
            yield self._make_part(self.delta(chunk.index, "", (), offset, FINISH_REASONS[chunk.stop]))
            self._usages[chunk.index] = chunk.usage
            if self._include_usage and len(self._usages) == self._total:
                counts: Json = {"choices": [], "usage": self._count_tokens(), "timings": self._measure_times()}
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
        counts = {"usage": self._count_tokens(), "timings": self._measure_times()}
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

    def _make_part(self, choice: Json) -> Json:
        return (
            self._head
            | {"object": self.part_object, "choices": [choice]}
            | ({"usage": None} if self._include_usage else {})
        )

    def _count_tokens(self) -> Json:
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

    def _measure_times(self) -> Json:
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


TokenPrompt = str | tuple[int, ...]
"""A prompt as text or as tokens."""
DEFAULT_CHAT_TOKENS = 1024
"""Tokens of a chat answer if the request sets no limit. Cells are reserved for them, so it is not the whole context."""
DEFAULT_TEXT_TOKENS = 16
"""Tokens of a text answer if the request sets no limit. OpenAI's documentation has this number."""
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""The roles of messages in a chat template by OpenAI's roles."""
UNSUPPORTED_FIELDS = ("functions", "logit_bias", "frequency_penalty", "presence_penalty", "echo", "audio")


def read_messages(messages: Any) -> list[tuple[str, str]]:
    """Return the (role, text) of the messages in a request. A content may consist of text parts."""
    if not isinstance(messages, list) or not messages:
        raise EngineRefused("`messages` must be a list of {role, content}")
    return [_read_message(message) for message in cast("list[Any]", messages)]


def _read_message(message: Any) -> tuple[str, str]:
    match message:
        case {"role": str(role), "content": str(text)} if role in ROLES:
            return ROLES[role], text
        case {"role": str(role), "content": [*parts]} if role in ROLES:
            return ROLES[role], "".join(_read_part(part) for part in parts)
        case {"role": str(role)} if role not in ROLES:
            raise EngineRefused(f"the role {role!r} is not known here; use system, user or assistant")
        case _:
            raise EngineRefused("a message must have a `role` and a text as `content`; tool calls are not supported")


def _read_part(part: Any) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": str(kind)}:
            raise EngineRefused(f"this model reads text only; leave the {kind!r} part of the message out")
        case _:
            raise EngineRefused("a part of a message must be {type: text, text}")


def read_grammar(body: Json) -> str:
    """Return the grammar that `response_format`, `json_schema` or `grammar` sets, or an empty text."""
    response_format = body.get("response_format") or {"type": "text"}
    fields = [key for key in ("grammar", "json_schema") if body.get(key)]
    if response_format != {"type": "text"}:
        fields.append("response_format")
    if len(fields) > 1:
        raise EngineRefused(f"`{fields[0]}` and `{fields[1]}` cannot be combined; send one of them")
    if fields == ["json_schema"]:
        return _grammar_of(body["json_schema"])
    match response_format:
        case {"type": "text"}:
            # A grammar of the wrong type is refused together with the other settings.
            return body.get("grammar") or ""
        case {"type": "json_object"}:
            return _grammar_of({"type": "object"})
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return _grammar_of(schema)
        case _:
            raise EngineRefused(
                "`response_format` must be {type: text}, {type: json_object} or "
                "{type: json_schema, json_schema: {name, schema}}"
            )


def _grammar_of(schema: Any) -> str:
    """Return the grammar of a schema. Sizes are not limited, because the request limits the tokens of the answer."""
    return from_json_schema(schema, max_chars=None, max_items=None)


def read_sampling(body: Json, room: int, default_tokens: int) -> Sampling:
    """Return the sampling settings of a request.

    Args:
        body: The JSON object of the request.
        room: Number of tokens that all choices together may have.
        default_tokens: Number of tokens of a choice if the request sets no limit.
    """
    for key in UNSUPPORTED_FIELDS:
        if body.get(key):
            raise EngineRefused(f"`{key}` is not supported here; leave it out")
    if body.get("tools") and body.get("tool_choice") != "none":
        raise EngineRefused("`tools` are not supported here; leave them out")
    n = dialect.read_int(body, "n", 1, 1, dialect.MAX_CANDIDATES)
    if dialect.read_int(body, "best_of", n, 1, dialect.MAX_CANDIDATES) > n:
        raise EngineRefused("`best_of` is not supported here; ask for `n` choices")
    key = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    max_tokens = dialect.read_int(body, key, default_tokens, 0, 10**9)
    defaults = {"temperature": 1.0, "top_p": 1.0, "seed": secrets.randbits(32)}
    fields = {key: value for key, value in body.items() if value is not None}
    settings = defaults | fields | {"n_predict": min(max_tokens, max(1, room // n)), "grammar": read_grammar(body)}
    return replace(dialect.read_sampling(settings), n=n)


async def _read_continuation(
    host: EngineHost, body: Json, prompt: TokenPrompt, default_tokens: int, top_logprobs: int
) -> Continuation:
    tokens = await host.tokenize_prompt(prompt)
    room = host.context_length - len(tokens)
    if room < 1:
        raise EngineRefused(
            f"{len(tokens)} prompt tokens leave no room for an answer in the {host.context_length} tokens of "
            "model.context_length; shorten the prompt or raise model.context_length"
        )
    sampling = replace(read_sampling(body, room, default_tokens), top_logprobs=top_logprobs)
    return Continuation(tuple(tokens), sampling, dialect.read_priority(body, "normal"), _read_owner(body))


async def _read_infill(host: EngineHost, body: Json, prompt: str, suffix: str, top_logprobs: int) -> Infill:
    vocabulary, texts = host.vocabulary, (prompt, suffix)
    used = await host.process_texts(lambda: sum(len(vocabulary.tokenize(text)) for text in texts), *texts)
    # Healing may have to write the word before the cursor letter by letter in each choice.
    n = dialect.read_int(body, "n", 1, 1, dialect.MAX_CANDIDATES)
    used += len(vocabulary.fim_tokens) + n * len(heal(prompt)[1])
    sampling = replace(read_sampling(body, host.context_length - used, DEFAULT_TEXT_TOKENS), top_logprobs=top_logprobs)
    return Infill(
        InfillContext(prompt, suffix),
        sampling=sampling,
        priority=dialect.read_priority(body, "normal"),
        owner=_read_owner(body),
        cache_reuse=0,
    )


def _read_owner(body: Json) -> Owner:
    user = body.get("user")
    if not isinstance(user, str | None):
        raise EngineRefused("`user` must be a text")
    return Owner(client=user or "")


def read_prompts(value: Any) -> list[TokenPrompt]:
    """Return the prompts of a request: one text, one list of tokens, or a list of these."""
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    if items and all(type(item) is int for item in items):
        items = [items]
    prompts: list[TokenPrompt] = []
    for item in items:
        if isinstance(item, str):
            prompts.append(item)
        elif isinstance(item, list) and all(type(token) is int for token in cast("list[Any]", item)):
            prompts.append(tuple(cast("list[int]", item)))
        else:
            raise EngineRefused("`prompt` must be a text, a list of tokens, or a list of texts and lists of tokens")
    if not prompts:
        raise EngineRefused("`prompt` is empty")
    return prompts


async def _run_in_turn(host: EngineHost, requests: Sequence[Continuation | Infill]) -> AsyncIterator[Chunk]:
    """Run the requests one after the other, so that each can reuse what it shares with the ones before it."""
    for number, request in enumerate(requests):
        async with aclosing(cast("Any", await host.submit(request))) as chunks:
            async for chunk in chunks:
                yield replace(chunk, index=number * request.sampling.n + chunk.index)


def _wants_usage(body: Json) -> bool:
    match body.get("stream_options"):
        case {"include_usage": True}:
            return True
        case _:
            return False


def list_routes(host: EngineHost) -> list[BaseRoute]:
    """Return the routes over `host`."""
    card: Json = {
        "id": host.name,
        "object": "model",
        "created": int(time()),
        "owned_by": "lsp-harness",
        "meta": {"n_ctx": host.context_length, "n_vocab": host.vocabulary.size},
    }

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [card]})

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        return (
            JSONResponse(card)
            if name == host.name
            else make_error_response(404, f"there is no model {name!r} here; this engine has {host.name!r}")
        )

    async def chat(body: Json) -> Response:
        prompt = await host.format_chat(read_messages(body.get("messages")))
        has_logprobs = body.get("logprobs") or False
        top_logprobs = dialect.read_int(body, "top_logprobs", 0, 0, dialect.MAX_LOGPROBS)
        if not isinstance(has_logprobs, bool) or (top_logprobs and not has_logprobs):
            raise EngineRefused("`logprobs` must be true or false, and true with `top_logprobs`")
        request = await _read_continuation(
            host, body, prompt, DEFAULT_CHAT_TOKENS, top_logprobs if has_logprobs else -1
        )
        choices = ChatChoices(host.name, n=request.sampling.n, include_usage=_wants_usage(body))
        return ChunkResponse(await host.submit(request), choices, stream=bool(body.get("stream")))

    async def completions(body: Json) -> Response:
        top_logprobs = dialect.read_int(body, "logprobs", -1, -1, dialect.MAX_LOGPROBS)
        prompts, suffix = read_prompts(body.get("prompt")), body.get("suffix")
        requests: list[Continuation | Infill] = []
        for prompt in prompts:
            if not suffix:
                requests.append(await _read_continuation(host, body, prompt, DEFAULT_TEXT_TOKENS, top_logprobs))
            elif isinstance(prompt, str) and isinstance(suffix, str):
                requests.append(await _read_infill(host, body, prompt, suffix, top_logprobs))
            else:
                raise EngineRefused("`suffix` and `prompt` must both be texts")
        choices = TextChoices(
            host.name, n=requests[0].sampling.n, prompts=len(requests), include_usage=_wants_usage(body)
        )
        return ChunkResponse(_run_in_turn(host, requests), choices, stream=bool(body.get("stream")))

    return [
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", model),
        Route("/v1/chat/completions", make_json_endpoint(chat), methods=["POST"]),
        Route("/v1/completions", make_json_endpoint(completions), methods=["POST"]),
    ]
