"""OpenAI's routes: `/v1/chat/completions`, `/v1/completions`, `/v1/models`.

Fields that change nothing here are ignored, as servers do; those that would change the answer if we had them are
refused by name.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import time
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.grammar.json_schema import from_json_schema
from lsp_harness.engine.http.engine_host import Host
from lsp_harness.engine.http.openai_choices import ChatChoices, TextChoices
from lsp_harness.engine.http.response import Answer, error, posted
from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.request import Chunk, Continuation, Infill, InfillContext, Owner, Sampling

Json = dict[str, Any]
CHAT_TOKENS = 1024
"""Tokens of an answer where the request sets no limit: cells for them are set aside, so it cannot be all there are."""
TEXT_TOKENS = 16
"""The same for `/v1/completions`, by OpenAI's documentation."""
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
MISSING = ("functions", "logit_bias", "frequency_penalty", "presence_penalty", "echo", "audio")


def turns(messages: Any) -> list[tuple[str, str]]:
    """(role, text) of `messages`; a text may be given in parts."""
    if not isinstance(messages, list) or not messages:
        raise EngineRefused("`messages` must be a list of {role, content}")
    return [_turn(message) for message in cast("list[Any]", messages)]


def _turn(message: Any) -> tuple[str, str]:
    match message:
        case {"role": str(role), "content": str(text)} if role in ROLES:
            return ROLES[role], text
        case {"role": str(role), "content": [*parts]} if role in ROLES:
            return ROLES[role], "".join(_part(part) for part in parts)
        case {"role": str(role)} if role not in ROLES:
            raise EngineRefused(f"the role {role!r} is not known here; use system, user or assistant")
        case _:
            raise EngineRefused("a message must have a `role` and a text as `content`; tool calls are not supported")


def _part(part: Any) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": str(kind)}:
            raise EngineRefused(f"this model reads text only; leave the {kind!r} part of the message out")
        case _:
            raise EngineRefused("a part of a message must be {type: text, text}")


def grammar(body: Json) -> str:
    """The grammar that `response_format`, `json_schema` or `grammar` asks for; empty for none."""
    form = body.get("response_format") or {"type": "text"}
    asked = [key for key in ("grammar", "json_schema") if body.get(key)] + ["response_format"] * (
        form != {"type": "text"}
    )
    if len(asked) > 1:
        raise EngineRefused(f"`{asked[0]}` and `{asked[1]}` cannot be combined; send one of them")
    if asked == ["json_schema"]:
        return _following(body["json_schema"])
    match form:
        case {"type": "text"}:
            # of the wrong type it is refused with the other settings
            return body.get("grammar") or ""
        case {"type": "json_object"}:
            return _following({"type": "object"})
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return _following(schema)
        case _:
            raise EngineRefused(
                "`response_format` must be {type: text}, {type: json_object} or "
                "{type: json_schema, json_schema: {name, schema}}"
            )


def _following(schema: Any) -> str:
    """No size but the schema's own: how long the answer may be, the caller says in tokens."""
    return from_json_schema(schema, most_chars=None, most_items=None)


def sampling(body: Json, room: int, default: int) -> Sampling:
    """How tokens are chosen; at most `room` of them are shared out among the choices."""
    for key in MISSING:
        if body.get(key):
            raise EngineRefused(f"`{key}` is not supported here; leave it out")
    if body.get("tools") and body.get("tool_choice") != "none":
        raise EngineRefused("`tools` are not supported here; leave them out")
    n = dialect.read_int(body, "n", 1, 1, dialect.MAX_CANDIDATES)
    if dialect.read_int(body, "best_of", n, 1, dialect.MAX_CANDIDATES) > n:
        raise EngineRefused("`best_of` is not supported here; ask for `n` choices")
    key = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    wanted = dialect.read_int(body, key, default, 0, 10**9)
    defaults = {"temperature": 1.0, "top_p": 1.0, "seed": secrets.randbits(32)}
    given = {key: value for key, value in body.items() if value is not None}
    settings = defaults | given | {"n_predict": min(wanted, max(1, room // n)), "grammar": grammar(body)}
    return replace(dialect.read_sampling(settings), n=n)


async def _continuation(host: Host, body: Json, prompt: str | tuple[int, ...], default: int, top: int) -> Continuation:
    tokens = await host.tokens(prompt)
    room = host.context - len(tokens)
    if room < 1:
        raise EngineRefused(
            f"{len(tokens)} prompt tokens leave no room for an answer in the {host.context} tokens of "
            "model.context_length; shorten the prompt or raise it"
        )
    settings = replace(sampling(body, room, default), top_logprobs=top)
    return Continuation(tuple(tokens), settings, dialect.read_priority(body, "normal"), _owner(body))


async def _infill(host: Host, body: Json, prompt: str, suffix: str, top: int) -> Infill:
    texts = (prompt, suffix)
    used = await host.aside(lambda: sum(len(host.llama.tokenize(text)) for text in texts), *texts)
    # the word before the cursor may have to be spelled letter by letter, in each choice
    n = dialect.read_int(body, "n", 1, 1, dialect.MAX_CANDIDATES)
    used += len(host.llama.fim) + n * len(heal(prompt)[1])
    settings = replace(sampling(body, host.context - used, TEXT_TOKENS), top_logprobs=top)
    return Infill(
        InfillContext(prompt, suffix),
        sampling=settings,
        priority=dialect.read_priority(body, "normal"),
        owner=_owner(body),
        cache_reuse=0,
    )


def _owner(body: Json) -> Owner:
    user = body.get("user")
    if not isinstance(user, str | None):
        raise EngineRefused("`user` must be a text")
    return Owner(client=user or "")


def prompts(given: Any) -> list[str | tuple[int, ...]]:
    """Prompts as texts or tokens: one of either, or a list of them."""
    several = cast("list[Any]", given) if isinstance(given, list) else [given]
    if several and all(type(item) is int for item in several):
        several = [several]
    found: list[str | tuple[int, ...]] = []
    for item in several:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list) and all(type(token) is int for token in cast("list[Any]", item)):
            found.append(tuple(cast("list[int]", item)))
        else:
            raise EngineRefused("`prompt` must be a text, a list of tokens, or a list of such")
    if not found:
        raise EngineRefused("`prompt` is empty")
    return found


async def _in_turn(host: Host, requests: Sequence[Continuation | Infill]) -> AsyncIterator[Chunk]:
    """One request after the other, so that each finds what it shares with the one before it evaluated."""
    for number, request in enumerate(requests):
        async with aclosing(cast("Any", await host.ask(request))) as chunks:
            async for chunk in chunks:
                yield replace(chunk, index=number * request.sampling.n + chunk.index)


def _wants_usage(body: Json) -> bool:
    match body.get("stream_options"):
        case {"include_usage": True}:
            return True
        case _:
            return False


def routes(host: Host) -> list[BaseRoute]:
    """The routes over `host`."""
    card: Json = {
        "id": host.name,
        "object": "model",
        "created": int(time()),
        "owned_by": "lsp-harness",
        "meta": {"n_ctx": host.context, "n_vocab": host.llama.n_vocab},
    }

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [card]})

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        return (
            JSONResponse(card)
            if name == host.name
            else error(404, f"there is no model {name!r} here; this engine has {host.name!r}")
        )

    async def chat(body: Json) -> Response:
        prompt = await host.chat(turns(body.get("messages")))
        wanted, top = body.get("logprobs") or False, dialect.read_int(body, "top_logprobs", 0, 0, dialect.MAX_LOGPROBS)
        if not isinstance(wanted, bool) or (top and not wanted):
            raise EngineRefused("`logprobs` must be true or false, and true with `top_logprobs`")
        request = await _continuation(host, body, prompt, CHAT_TOKENS, top if wanted else -1)
        form = ChatChoices(host.name, n=request.sampling.n, usage=_wants_usage(body))
        return Answer(await host.ask(request), form, stream=bool(body.get("stream")))

    async def completions(body: Json) -> Response:
        top = dialect.read_int(body, "logprobs", -1, -1, dialect.MAX_LOGPROBS)
        given, suffix = prompts(body.get("prompt")), body.get("suffix")
        requests: list[Continuation | Infill] = []
        for prompt in given:
            if not suffix:
                requests.append(await _continuation(host, body, prompt, TEXT_TOKENS, top))
            elif isinstance(prompt, str) and isinstance(suffix, str):
                requests.append(await _infill(host, body, prompt, suffix, top))
            else:
                raise EngineRefused("`suffix` must be a text, and so must its `prompt`")
        form = TextChoices(host.name, n=requests[0].sampling.n, prompts=len(requests), usage=_wants_usage(body))
        return Answer(_in_turn(host, requests), form, stream=bool(body.get("stream")))

    return [
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", model),
        Route("/v1/chat/completions", posted(chat), methods=["POST"]),
        Route("/v1/completions", posted(completions), methods=["POST"]),
    ]
