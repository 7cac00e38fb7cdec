"""The JSON of llama-server: the conversion from and to requests and chunks, for the engine and the client."""

import math
from dataclasses import asdict
from typing import Any, cast

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import (
    PRIORITIES,
    Chunk,
    Continuation,
    Infill,
    InfillContext,
    Owner,
    Priority,
    Sampling,
    Stop,
    TokenLogprob,
    Usage,
)

Json = dict[str, Any]
MAX_CANDIDATES = 16
MAX_EXPECTED_NAMES, MAX_UNBOUND_NAMES = 100, 8
MAX_LOGPROBS = 20


def _read_field(body: Json, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
    value = body.get(key, default)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise EngineRefused(f"`{key}` has the wrong type")
    return value


def _read_float(body: Json, key: str, default: float) -> float:
    try:
        value = float(_read_field(body, key, (int, float), default))
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise EngineRefused(f"`{key}` must be a finite number")
    return value


def read_sampling(body: Json) -> Sampling:
    """Return the sampling settings of a request. Raise EngineRefused."""
    stop = _read_field(body, "stop", (list, str), [])
    stops = [stop] if isinstance(stop, str) else cast("list[Any]", stop)
    if not all(isinstance(s, str) for s in stops):
        raise EngineRefused("`stop` must be a list of strings")
    n_predict = int(_read_field(body, "n_predict", int, 64))
    return Sampling(
        n_predict=n_predict if n_predict >= 0 else 512,
        temperature=_read_float(body, "temperature", 0.0),
        seed=int(_read_field(body, "seed", int, 0)),
        top_k=int(_read_field(body, "top_k", int, 40)),
        top_p=_read_float(body, "top_p", 0.95),
        stop=tuple(stops),
        grammar=str(_read_field(body, "grammar", str, "")),
        t_max_predict_ms=int(_read_field(body, "t_max_predict_ms", int, 0)),
        n=read_int(body, "n_cmpl", 1, 1, MAX_CANDIDATES),
        greedy_first=_read_field(body, "greedy_first", bool, False),
        top_logprobs=read_int(body, "n_probs", 0, 0, MAX_LOGPROBS) or -1,
        confidence=_read_field(body, "confidence", bool, False),
        expected=read_names(body, "expected", MAX_EXPECTED_NAMES),
        unbound=read_names(body, "unbound", MAX_UNBOUND_NAMES),
        lookup=_read_field(body, "lookup", bool, True),
    )


def read_names(body: Json, key: str, limit: int) -> tuple[str, ...]:
    """Return a list of at most `limit` names. Raise EngineRefused."""
    names = cast("list[Any]", _read_field(body, key, list, []))
    if not all(isinstance(name, str) and name for name in names) or len(names) > limit:
        raise EngineRefused(f"`{key}` must be a list of names, {limit} at most")
    return tuple(names)


def read_int(body: Json, key: str, default: int, minimum: int, maximum: int) -> int:
    """Return a whole number between `minimum` and `maximum`. Raise EngineRefused."""
    value = int(_read_field(body, key, int, default))
    if not minimum <= value <= maximum:
        raise EngineRefused(f"`{key}` must be between {minimum} and {maximum}")
    return value


def read_owner(body: Json) -> Owner:
    """Return the owner of a request. Raise EngineRefused."""
    return Owner(
        _read_field(body, "client", str, ""),
        _read_field(body, "id", str, ""),
        _read_field(body, "persist", bool, False),
    )


def read_priority(body: Json, default: Priority) -> Priority:
    """Return the priority of a request. Raise EngineRefused."""
    value = _read_field(body, "priority", str, default)
    if value not in PRIORITIES:
        raise EngineRefused(f"`priority` must be one of {', '.join(PRIORITIES)}")
    return value


def read_completion(body: Json) -> Continuation:
    """Return the request of `/completion`. Raise EngineRefused."""
    prompt = body.get("prompt")
    if isinstance(prompt, list) and prompt and all(type(p) in (int, str) for p in cast("list[Any]", prompt)):
        prompt = tuple(cast("list[int | str]", prompt))
    elif not isinstance(prompt, str):
        raise EngineRefused("`prompt` must be a text or a list of tokens and texts")
    return Continuation(
        prompt, read_sampling(body), read_priority(body, "normal"), read_owner(body), read_cache_reuse(body)
    )


def read_cache_reuse(body: Json) -> int | None:
    """Return the minimum length of runs to move in the KV cache, or None if the request does not say.

    Raise EngineRefused.
    """
    return None if body.get("n_cache_reuse") is None else read_int(body, "n_cache_reuse", 0, 0, 2**31 - 1)


def read_infill_context(body: Json) -> InfillContext:
    """Return the text around a hole. Raise EngineRefused."""
    extra: list[tuple[str, str]] = []
    for item in _read_field(body, "input_extra", list, []):
        if not isinstance(item, dict):
            raise EngineRefused("`input_extra` must be a list of {filename, text}")
        entry = cast("Json", item)
        extra.append((_read_field(entry, "filename", str, ""), _read_field(entry, "text", str, "")))
    prefix = _read_field(body, "input_prefix", str, "") + _read_field(body, "prompt", str, "")
    return InfillContext(prefix, _read_field(body, "input_suffix", str, ""), tuple(extra))


def read_infill(body: Json) -> Infill:
    """Return the request of `/infill`. Raise EngineRefused."""
    shorter = cast("list[Any]", _read_field(body, "shorter", list, []))
    if not all(isinstance(item, dict) for item in shorter):
        raise EngineRefused("`shorter` must be a list of {input_prefix, input_suffix, input_extra}")
    return Infill(
        read_infill_context(body),
        # a client that does not know the field expects the answer after a complete word
        heal=_read_field(body, "heal", bool, True),
        sampling=read_sampling(body),
        priority=read_priority(body, "interactive"),
        owner=read_owner(body),
        shorter=tuple(read_infill_context(item) for item in shorter),
        budget_ms=_read_float(body, "budget_ms", 0.0),
        cache_reuse=read_cache_reuse(body),
    )


def _infill_context_to_json(context: InfillContext) -> Json:
    return {
        "input_prefix": context.prefix,
        "input_suffix": context.suffix,
        "input_extra": [{"filename": name, "text": text} for name, text in context.extra],
    }


def request_to_json(request: Continuation | Infill) -> Json:
    """Return the body of a request to `/completion` or `/infill`."""
    settings = asdict(request.sampling)
    settings["n_cmpl"] = settings.pop("n")
    settings["n_probs"] = max(0, settings.pop("top_logprobs"))
    owner = asdict(request.owner)
    del owner["affinity"]
    body: Json = settings | owner | {"priority": request.priority, "stream": True, "cache_prompt": True}
    if request.cache_reuse is not None:
        body["n_cache_reuse"] = request.cache_reuse
    if isinstance(request, Continuation):
        return body | {"prompt": request.prompt}
    return (
        body
        | _infill_context_to_json(request.context)
        | {
            "heal": request.heal,
            "shorter": [_infill_context_to_json(context) for context in request.shorter],
            "budget_ms": request.budget_ms,
        }
    )


STOP_TYPES: dict[Stop, str] = {"eos": "eos", "word": "word", "limit": "limit", "deadline": "limit", "cancelled": "none"}
"""Our stop reason → the `stop_type` of llama-server."""


def chunk_to_json(chunk: Chunk) -> Json:
    """Return the event for a chunk."""
    usage = chunk.usage
    timings = {
        "cache_n": usage.reused,
        "prompt_n": usage.evaluated,
        "prompt_ms": usage.prompt_ms,
        "predicted_n": usage.generated,
        "predicted_ms": usage.predicted_ms,
        "prompt_per_token_ms": round(usage.prompt_ms / max(1, usage.evaluated), 3),
        "prompt_per_second": round(usage.evaluated * 1000 / usage.prompt_ms, 3) if usage.prompt_ms else 0.0,
        "predicted_per_token_ms": round(usage.predicted_ms / max(1, usage.generated), 3),
        "predicted_per_second": round(usage.generated * 1000 / usage.predicted_ms, 3) if usage.predicted_ms else 0.0,
        "draft_n": usage.drafted,
        "draft_n_accepted": usage.accepted,
        "shift_n": usage.shifted,
    }
    body: Json = {"index": chunk.index, "content": chunk.text, "stop": chunk.stop is not None, "timings": timings}
    if usage.rung:
        body["rung"] = usage.rung
    if chunk.logprobs:
        body["completion_probabilities"] = [_logprob_to_json(item) for item in chunk.logprobs]
    if chunk.stop is None:
        return body
    return body | {
        "stop_type": STOP_TYPES[chunk.stop],
        "stop_reason": chunk.stop,
        "tokens_predicted": usage.generated,
        "tokens_evaluated": usage.evaluated + usage.reused,
        "tokens_cached": usage.reused,
        "truncated": False,
    }


def select_fields(body: Json, fields: list[str]) -> Json:
    """Return only the named fields, in one flat object, as llama-server does for `response_fields`.

    A path such as `timings/prompt_n` names a field of an inner object.
    """
    selected: Json = {}
    for field in fields:
        value: Any = body
        for step in field.split("/"):
            value = cast("Json", value).get(step) if isinstance(value, dict) else None
        if value is not None:
            selected[field] = value
    return selected


def read_response_fields(body: Json) -> list[str]:
    """Return the names of the fields that the answer should contain. Raise EngineRefused."""
    fields = cast("list[Any]", _read_field(body, "response_fields", list, []))
    if not all(isinstance(field, str) for field in fields):
        raise EngineRefused("`response_fields` must be a list of field names")
    return fields


def _logprob_to_json(item: TokenLogprob) -> Json:
    top = [{"token": text, "logprob": value} for text, value in item.top]
    return {"token": item.text, "logprob": item.logprob, "top_logprobs": top}


def _logprob_from_json(item: Json) -> TokenLogprob:
    top = tuple((str(t.get("token", "")), float(t.get("logprob", 0))) for t in item.get("top_logprobs") or ())
    return TokenLogprob(str(item.get("token", "")), float(item.get("logprob", 0)), top)


def chunk_from_json(body: Json) -> Chunk:
    """Return the chunk of an event. An event of a real llama-server has no `stop_reason`."""
    timings = cast("Json", body.get("timings") or {})
    usage = Usage(
        evaluated=int(timings.get("prompt_n", 0)),
        reused=int(timings.get("cache_n", body.get("tokens_cached", 0))),
        generated=int(timings.get("predicted_n", body.get("tokens_predicted", 0))),
        prompt_ms=float(timings.get("prompt_ms", 0)),
        predicted_ms=float(timings.get("predicted_ms", 0)),
        drafted=int(timings.get("draft_n", 0)),
        accepted=int(timings.get("draft_n_accepted", 0)),
        rung=int(body.get("rung", 0)),
        shifted=int(timings.get("shift_n", 0)),
    )
    text, index = str(body.get("content", "")), int(body.get("index", 0))
    logprobs = tuple(_logprob_from_json(item) for item in body.get("completion_probabilities") or ())
    if not body.get("stop"):
        return Chunk(text, None, usage, index, logprobs)
    by_type: dict[str, Stop] = {"eos": "eos", "word": "word", "limit": "limit"}
    stop = cast("Stop", body.get("stop_reason")) or by_type.get(str(body.get("stop_type")), "limit")
    return Chunk(text, stop, usage, index, logprobs)
