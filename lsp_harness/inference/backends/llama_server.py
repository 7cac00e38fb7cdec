"""The routes of llama-server, as our engine (which can do more) and a real llama-server serve them."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.backends.backend import (
    FEATURES,
    NO_INFILL_KEY,
    BackendKind,
    Features,
    Json,
    messages_to_json,
    require_success,
)
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.model_family import Family, find_family, infill_problem
from lsp_harness.inference.infill_text import BlankStripper, split_trailing_blanks
from lsp_harness.inference.request import (
    ChatRequest,
    Chunk,
    Continuation,
    Infill,
    ModelRequest,
    Priority,
    Props,
    ToolChat,
)
from lsp_harness.inference.target import Provider
from lsp_harness.text.wording import format_count

MAX_CONCURRENT_COUNTS = 8
"""Texts that a real llama-server tokenizes at the same time."""
HARNESS_ENGINE_FIELDS = (
    *("client", "id", "persist", "priority", "lookup", "heal", "shorter", "budget_ms"),
    *("greedy_first", "confidence", "expected", "unbound"),
)


class _Exchange:
    """A streamed request to `/completion` or `/infill`.

    With `hide_text` the text is not passed on: the server generated it although none was requested.
    """

    def __init__(self, path: str, body: Json, candidates: int, blanks: str = "", *, hide_text: bool = False) -> None:
        self.path = path
        self.body = body
        self.complete = False
        self._open = set(range(candidates))
        self._strippers = [BlankStripper(blanks) for _ in range(candidates)] if blanks else []
        self._hide_text = hide_text

    def read(self, data: str) -> Iterable[Chunk]:
        chunk = dialect.chunk_from_json(require_success(json.loads(data)))
        if self._strippers:
            chunk = replace(chunk, text=self._strippers[chunk.index].strip(chunk.text))
        if chunk.stop:
            self._open.discard(chunk.index)
            self.complete = not self._open
        if not self._hide_text:
            yield chunk
        elif chunk.stop:
            yield replace(chunk, text="")

    def finish(self) -> Iterable[Chunk]:
        return ()


class HarnessEngine:
    """The backend of the engine of lsp-harness, which takes every field of a request."""

    kind = "lsp-harness engine"

    def __init__(self, endpoint: Endpoint, props: Json | None = None) -> None:
        self._endpoint = endpoint
        self._props: Json = props or {}

    def features(self) -> Features:
        """Return all features, except for those that `/props` of the engine describes differently."""
        reported = cast("Features", self._props.get("features") or {})
        features = dict.fromkeys(FEATURES, True) | {name: reported[name] for name in FEATURES if name in reported}
        # a grammar forms the calls
        return features | {"tools": False} | ({"infill": False} if self._is_infill_off else {})

    @property
    def _is_infill_off(self) -> bool:
        return self._endpoint.target.fim == "none"

    async def build_exchange(self, request: ModelRequest) -> _Exchange:
        plain = await self._format_chat(request)
        path = "/infill" if isinstance(plain, Infill) else "/completion"
        return _Exchange(path, dialect.request_to_json(plain), plain.sampling.n)

    async def _format_chat(self, request: ModelRequest) -> Continuation | Infill:
        """Return a chat request as the continuation of its prompt. `/completion` has fields that chat routes lack."""
        if isinstance(request, ToolChat):
            raise EngineRefused(f"{self._endpoint.name} takes tools as text only")
        if not isinstance(request, ChatRequest):
            return request
        prompt = await self.chat_prompt(request.messages)
        return Continuation(prompt, request.sampling, request.priority, request.owner)

    async def count(self, texts: Sequence[str]) -> list[int]:
        answer = await self._endpoint.call("POST", "/tokenize", {"content": list(texts), "count": True})
        return [int(count) for count in answer["counts"]]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        body = {"messages": messages_to_json(messages)}
        return str((await self._endpoint.call("POST", "/apply-template", body))["prompt"])

    async def props(self) -> Props:
        self._props = body = cast("Json", await self._endpoint.call("GET", "/props"))
        settings = cast("Json", body.get("default_generation_settings") or {})
        name = str(body.get("model_alias", ""))
        raw = body | ({NO_INFILL_KEY: infill_problem("none", name)} if self._is_infill_off else {})
        return Props(name, int(settings.get("n_ctx", 0)), int(body.get("pid", 0)), raw)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        body = self._embedding_body(texts, max_tokens) | {"priority": priority}
        return _read_vectors(await self._endpoint.call("POST", "/embedding", body), len(texts))

    @staticmethod
    def _embedding_body(texts: Sequence[str], max_tokens: int) -> Json:
        return {"content": list(texts), "max_tokens": max_tokens}

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        body = {"client": client, "id": name, "index": index}
        return bool((await self._endpoint.call("POST", "/cancel", body))["cancelled"])


class LlamaServer(HarnessEngine):
    """The backend of a real llama-server. Fields that it does not understand are not sent."""

    kind = "llama-server"

    @property
    def _slots(self) -> int:
        return max(1, int(self._props.get("total_slots") or 1))

    def _family(self) -> Family | None:
        """Return the family whose tokens mark a hole.

        With None the server marks it, by the tokens in the model's file.
        """
        model = f"{self._props.get('model_alias', '')} {self._props.get('model_path', '')}"
        try:
            return find_family(self._endpoint.target.fim, model)
        except EngineRefused:
            return None

    def features(self) -> Features:
        family = self._family()
        infill = f"laid out for {family.name}" if family else "in the order that the server was started with"
        return dict.fromkeys(FEATURES, False) | {
            "infill": False if self._is_infill_off else infill,
            "heal": "blanks before the cursor are left out of the prompt and removed from the answer; a half-typed "
            "word is not completed",
            "lookup": "as the server was started (--spec-type)",
            "grammar": True,
            "n": f"up to {self._slots}, its slots (--parallel)",
            "logprobs": True,
            "shift": "as the server was started (--cache-reuse)",
            "deadline": True,
            "warm": True,
            "tokenize": True,
            "embedding": "only if the server was started with --embeddings",
        }

    async def build_exchange(self, request: ModelRequest) -> _Exchange:
        plain = await self._format_chat(request)
        n = min(plain.sampling.n, self._slots)
        plain = replace(plain, sampling=replace(plain.sampling, n=n))
        blanks = ""
        if isinstance(plain, Infill) and plain.heal:
            prefix, blanks = split_trailing_blanks(plain.context.prefix)
            plain = replace(plain, context=replace(plain.context, prefix=prefix))
        if isinstance(plain, Infill) and (family := self._family()):
            # /infill of llama-server has no order in which typing only appends to the prompt, and it cuts long texts
            sampling = replace(plain.sampling, stop=(*plain.sampling.stop, *family.recipe.stops))
            plain = Continuation(family.prompt(plain.context), sampling, cache_reuse=plain.cache_reuse)
        fields = dialect.request_to_json(plain)
        body = {key: value for key, value in fields.items() if key not in HARNESS_ENGINE_FIELDS}
        # the default of llama-server has samplers that our engine lacks
        body["samplers"] = ["top_k", "top_p", "temperature"]
        path = "/infill" if isinstance(plain, Infill) else "/completion"
        # with n_predict 0 llama-server still generates one token
        return _Exchange(path, body, n, blanks, hide_text=plain.sampling.n_predict == 0)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        body = self._embedding_body(texts, max_tokens)
        return _read_vectors(await self._endpoint.call("POST", "/embedding", body), len(texts))

    async def count(self, texts: Sequence[str]) -> list[int]:
        limit = asyncio.Semaphore(MAX_CONCURRENT_COUNTS)

        async def count_one(text: str) -> int:
            async with limit:
                answer = await self._endpoint.call("POST", "/tokenize", {"content": text, "parse_special": False})
            return len(answer["tokens"])

        return await asyncio.gather(*(count_one(text) for text in texts))

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False


def _read_vectors(answer: Any, expected: int) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts.

    A server that pools sends each vector flat or as the only row of a list.
    """
    rows = cast("list[Json]", answer if isinstance(answer, list) else [])
    vectors: dict[int, list[float]] = {}
    for number, row in enumerate(rows):
        vector = cast("list[Any]", row.get("embedding") or [])
        if len(vector) == 1 and isinstance(vector[0], list):
            vector = cast("list[Any]", vector[0])
        if not vector or isinstance(vector[0], list):
            raise EngineError("the server returned a vector for each token; start it with --pooling mean or cls")
        vectors[int(row.get("index", number))] = [float(value) for value in vector]
    if sorted(vectors) != list(range(expected)):
        raise EngineError(
            f"the server returned {format_count(len(vectors), 'vector')} for {format_count(expected, 'text')}"
        )
    return [vectors[number] for number in range(expected)]


async def _read_props(endpoint: Endpoint) -> Json | None:
    """Return the answer to `/props`, or None if this is no llama-server."""
    props: Any = await endpoint.probe_json("/props")
    return cast("Json", props) if isinstance(props, dict) and "default_generation_settings" in props else None


async def _recognize(endpoint: Endpoint) -> bool:
    return await _read_props(endpoint) is not None


async def _open_backend(endpoint: Endpoint) -> HarnessEngine | None:
    if props := await _read_props(endpoint):
        return (HarnessEngine if "fim_order" in props else LlamaServer)(endpoint, props)
    if endpoint.target.dialect == KIND.dialect:
        raise EngineRefused(
            f'{endpoint.name} has no /props, which every llama-server has; set engine.dialect to "auto"'
        )
    return None


KIND = BackendKind(
    "llama-server",
    _open_backend,
    (Provider("llama.cpp", "http://127.0.0.1:8080", (), ("LLAMA_API_KEY",)),),
    _recognize,
    reads_fim_tokens=True,
)
