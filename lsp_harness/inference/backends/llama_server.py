"""llama-server's own routes: spoken by our engine, which can do more, and by a real llama-server."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.backends.backend import FEATURES, NO_INFILL, Features, Json, without_error
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.model_family import Family, family_of, why_not
from lsp_harness.inference.backends.trailing_blanks import Blanks, cut
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props
from lsp_harness.text.wording import format_count

AT_ONCE = 8
"""Texts that are counted at the same time."""
ONLY_OURS = (
    *("client", "id", "persist", "priority", "lookup", "heal", "shorter", "budget_ms"),
    *("confidence", "expected", "unbound"),
)


class _Exchange:
    def __init__(self, path: str, body: Json, candidates: int, blanks: str = "", *, mute: bool = False) -> None:
        self.path = path
        self.body = body
        self.complete = False
        self._open = set(range(candidates))
        self._blanks = [Blanks(blanks) for _ in range(candidates)] if blanks else []
        self._mute = mute

    def read(self, data: str) -> Iterable[Chunk]:
        chunk = dialect.to_chunk(without_error(json.loads(data)))
        if self._blanks:
            chunk = replace(chunk, text=self._blanks[chunk.index].strip(chunk.text))
        if chunk.stop:
            self._open.discard(chunk.index)
            self.complete = not self._open
        if not self._mute:
            yield chunk
        elif chunk.stop:
            yield replace(chunk, text="")

    def ended(self) -> Iterable[Chunk]:
        return ()


class OurEngine:
    """lsp-harness's engine: everything is sent as it is."""

    kind = "lsp-harness engine"

    def __init__(self, endpoint: Endpoint, props: Json | None = None) -> None:
        self._endpoint = endpoint
        self._props: Json = props or {}

    def features(self) -> Features:
        """Everything, unless the engine itself says otherwise in `/props`."""
        told = cast("Features", self._props.get("features") or {})
        own = dict.fromkeys(FEATURES, True) | {name: told[name] for name in FEATURES if name in told}
        return own | ({"infill": False} if self._none else {})

    @property
    def _none(self) -> bool:
        return self._endpoint.target.fim == "none"

    def ask(self, request: Continuation | Infill) -> _Exchange:
        path = "/infill" if isinstance(request, Infill) else "/completion"
        return _Exchange(path, dialect.to_body(request), request.sampling.n)

    async def count(self, texts: Sequence[str]) -> list[int]:
        answer = await self._endpoint.call("POST", "/tokenize", {"content": list(texts), "count": True})
        return [int(count) for count in answer["counts"]]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        turns = [{"role": role, "content": content} for role, content in messages]
        return str((await self._endpoint.call("POST", "/apply-template", {"messages": turns}))["prompt"])

    async def props(self) -> Props:
        self._props = body = cast("Json", await self._endpoint.call("GET", "/props"))
        settings = cast("Json", body.get("default_generation_settings") or {})
        name = str(body.get("model_alias", ""))
        raw = body | ({NO_INFILL: why_not("none", name)} if self._none else {})
        return Props(name, int(settings.get("n_ctx", 0)), int(body.get("pid", 0)), raw)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        body = self._embedding(texts, max_tokens) | {"priority": priority}
        return _vectors(await self._endpoint.call("POST", "/embedding", body), len(texts))

    @staticmethod
    def _embedding(texts: Sequence[str], max_tokens: int) -> Json:
        return {"content": list(texts), "max_tokens": max_tokens}

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        body = {"client": client, "id": name, "index": index}
        return bool((await self._endpoint.call("POST", "/cancel", body))["cancelled"])


class LlamaServer(OurEngine):
    """A real llama-server. What it would not understand is not sent."""

    kind = "llama-server"

    @property
    def _slots(self) -> int:
        return max(1, int(self._props.get("total_slots") or 1))

    def _family(self) -> Family | None:
        """Whose tokens lay out a hole; None leaves that to the server, which asks the model's file."""
        named = f"{self._props.get('model_alias', '')} {self._props.get('model_path', '')}"
        try:
            return family_of(self._endpoint.target.fim, named)
        except EngineRefused:
            return None

    def features(self) -> Features:
        family = self._family()
        laid_out = f"laid out for {family.name}" if family else "in the order that the server was started with"
        return dict.fromkeys(FEATURES, False) | {
            "infill": False if self._none else laid_out,
            "heal": "blanks before the cursor are left out of the prompt and removed from the answer; a half-typed word is not completed",
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

    def ask(self, request: Continuation | Infill) -> _Exchange:
        n = min(request.sampling.n, self._slots)
        request = replace(request, sampling=replace(request.sampling, n=n))
        blanks = ""
        if isinstance(request, Infill) and request.heal:
            prefix, blanks = cut(request.around.prefix)
            request = replace(request, around=replace(request.around, prefix=prefix))
        if isinstance(request, Infill) and (family := self._family()):
            # its own /infill knows no order in which typing only appends, and cuts long texts
            sampling = replace(request.sampling, stop=(*request.sampling.stop, *family.recipe.stops))
            request = Continuation(family.prompt(request.around), sampling, cache_reuse=request.cache_reuse)
        body = {key: value for key, value in dialect.to_body(request).items() if key not in ONLY_OURS}
        # its defaults add samplers that ours does not have
        body["samplers"] = ["top_k", "top_p", "temperature"]
        path = "/infill" if isinstance(request, Infill) else "/completion"
        # asked for none, it generates one token all the same
        return _Exchange(path, body, n, blanks, mute=request.sampling.n_predict == 0)

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        return _vectors(await self._endpoint.call("POST", "/embedding", self._embedding(texts, max_tokens)), len(texts))

    async def count(self, texts: Sequence[str]) -> list[int]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(text: str) -> int:
            async with gate:
                answer = await self._endpoint.call("POST", "/tokenize", {"content": text, "parse_special": False})
            return len(answer["tokens"])

        return await asyncio.gather(*(one(text) for text in texts))

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        return False


def _vectors(answer: Any, expected: int) -> list[list[float]]:
    """Embeddings in the order asked for. A pooled one comes flat, or as the only row of a list."""
    rows = cast("list[Json]", answer if isinstance(answer, list) else [])
    found: dict[int, list[float]] = {}
    for at, row in enumerate(rows):
        vector = cast("list[Any]", row.get("embedding") or [])
        if len(vector) == 1 and isinstance(vector[0], list):
            vector = cast("list[Any]", vector[0])
        if not vector or isinstance(vector[0], list):
            raise EngineError("the server returned a vector for each token; start it with --pooling mean or cls")
        found[int(row.get("index", at))] = [float(value) for value in vector]
    if sorted(found) != list(range(expected)):
        raise EngineError(
            f"the server returned {format_count(len(found), 'vector')} for {format_count(expected, 'text')}"
        )
    return [found[at] for at in range(expected)]
