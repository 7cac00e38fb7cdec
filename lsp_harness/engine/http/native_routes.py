"""llama-server's own routes: `/props`, `/slots`, `/tokenize`, `/detokenize`, `/apply-template`, `/completion`, `/infill`, `/cancel`."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.decode.fim_prompt import Order
from lsp_harness.engine.http import openai_routes
from lsp_harness.engine.http.engine_host import Host, apart
from lsp_harness.engine.http.response import Answer, posted
from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk

Json = dict[str, Any]


class Native:
    """Chunks as llama-server writes them; with `fields` only those of them, in the last event of a stream."""

    ending = ""

    def __init__(self, fields: Sequence[str] = ()) -> None:
        self._fields = list(fields)

    def events(self, chunk: Chunk) -> Iterable[Json]:
        body = dialect.chunk_to_json(chunk)
        return (dialect.select_fields(body, self._fields) if chunk.stop and self._fields else body,)

    def whole(self, chunks: Sequence[Chunk]) -> Any:
        """One object; with `n_cmpl` above 1 a list of them."""
        bodies: list[Json] = []
        for last in sorted((chunk for chunk in chunks if chunk.stop), key=lambda chunk: chunk.index):
            own = [chunk for chunk in chunks if chunk.index == last.index]
            body = dialect.chunk_to_json(last) | {"content": "".join(chunk.text for chunk in own)}
            if probabilities := [
                p for chunk in own for p in dialect.chunk_to_json(chunk).get("completion_probabilities", ())
            ]:
                body["completion_probabilities"] = probabilities
            bodies.append(dialect.select_fields(body, self._fields) if self._fields else body)
        return bodies[0] if len(bodies) == 1 else bodies


def turns(messages: Any) -> list[tuple[str, str]]:
    """(role, content) of a list of messages."""
    found = [_turn(m) for m in cast("list[Any]", messages)] if isinstance(messages, list) else []
    if not found:
        raise EngineRefused("`messages` must be a list of {role, content}")
    return found


def fim_order(body: Json) -> Order | None:
    """The order that is asked for; None for the model's own."""
    match body.get("fim_order"):
        case None:
            return None
        case "suffix-first" | "prefix-suffix-middle" as order:
            return order
        case _:
            raise EngineRefused("`fim_order` must be suffix-first or prefix-suffix-middle")


def _turn(message: Any) -> tuple[str, str]:
    match message:
        case {"role": str(role), "content": str(content)}:
            return role, content
        case _:
            raise EngineRefused("`messages` must be a list of {role, content}")


def routes(host: Host) -> list[BaseRoute]:
    """The routes over `host`."""

    async def props(_: Request) -> Response:
        return JSONResponse(host.props())

    async def slots(_: Request) -> Response:
        return JSONResponse(host.residents())

    async def tokenize(body: Json) -> Response:
        content = body.get("content", "")
        if body.get("count") and isinstance(content, list):
            texts = [str(text) for text in cast("list[Any]", content)]
            counts = await apart(lambda: [len(host.llama.tokenize(text)) for text in texts], sum(map(len, texts)))
            return JSONResponse({"counts": counts})
        if not isinstance(content, str):
            raise EngineRefused("`content` must be a text, or a list of texts with `count`")
        special = bool(body.get("parse_special", True))
        tokens = await apart(lambda: host.llama.tokenize(content, special=special), len(content))
        return JSONResponse({"tokens": tokens})

    async def detokenize(body: Json) -> Response:
        tokens = body.get("tokens")
        if not isinstance(tokens, list) or not all(
            type(t) is int and 0 <= t < host.llama.n_vocab for t in cast("list[Any]", tokens)
        ):
            raise EngineRefused("`tokens` must be a list of token ids")
        data = b"".join(host.llama.piece(t, special=True) for t in cast("list[int]", tokens))
        return JSONResponse({"content": data.decode("utf-8", "replace")})

    async def apply_template(body: Json) -> Response:
        return JSONResponse({"prompt": await host.chat(turns(body.get("messages")))})

    async def completion(body: Json) -> Response:
        asked = dialect.read_completion(body | {"grammar": openai_routes.grammar(body)})
        return Answer(
            await host.ask(asked), Native(dialect.read_response_fields(body)), stream=bool(body.get("stream"))
        )

    async def infill(body: Json) -> Response:
        request = dialect.read_infill(body)
        chunks = await host.ask(request, fim_order(body))
        return Answer(chunks, Native(dialect.read_response_fields(body)), stream=bool(body.get("stream")))

    async def cancel(body: Json) -> Response:
        name, index = body.get("id"), body.get("index")
        if not isinstance(name, str) or not name or not (index is None or type(index) is int):
            raise EngineRefused("`id` must name a request, and `index` one of its candidates (all without it)")
        return JSONResponse({"cancelled": host.scheduler.cancel(str(body.get("client", "")), name, index)})

    return [
        Route("/props", props),
        Route("/slots", slots),
        Route("/tokenize", posted(tokenize), methods=["POST"]),
        Route("/detokenize", posted(detokenize), methods=["POST"]),
        Route("/apply-template", posted(apply_template), methods=["POST"]),
        Route("/completion", posted(completion), methods=["POST"]),
        Route("/infill", posted(infill), methods=["POST"]),
        Route("/cancel", posted(cancel), methods=["POST"]),
    ]
