"""Texts to vectors: `/embedding` as llama-server has it, `/v1/embeddings` as OpenAI has it."""

import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.embed.embedder import Embedder, Vector
from lsp_harness.engine.http.response import error, posted
from lsp_harness.errors import EngineRefused, ModelError
from lsp_harness.inference import embedding_request as embedding

Json = dict[str, Any]
Handle = Callable[[Request, Json], Awaitable[Response]]
NOT_IMPLEMENTED = 501


def routes(embedder: Embedder) -> list[BaseRoute]:
    """The routes over `embedder`."""

    async def native(request: Request, body: Json) -> Response:
        wanted = embedding.read_request(body, "content" if "content" in body else "input")

        def item(index: int, vector: Vector) -> str:
            return json.dumps({"index": index, "embedding": [vector[0]]})

        items, _ = await _embedded(embedder, wanted, request, item)
        return _sent(f"[{','.join(items)}]")

    async def openai(request: Request, body: Json) -> Response:
        wanted = embedding.read_request(body, "input")
        packed = embedding.wants_base64(body)

        def item(index: int, vector: Vector) -> str:
            if body.get("dimensions") not in (None, len(vector[0])):
                raise EngineRefused(
                    f"vectors of {embedder.name} have {len(vector[0])} `dimensions`, no more and no fewer"
                )
            values = embedding.encode_vector(vector[0]) if packed else vector[0]
            return json.dumps({"object": "embedding", "index": index, "embedding": values})

        items, tokens = await _embedded(embedder, wanted, request, item)
        usage = json.dumps({"prompt_tokens": tokens, "total_tokens": tokens})
        model = json.dumps(embedder.name)
        return _sent(f'{{"object": "list", "model": {model}, "data": [{",".join(items)}], "usage": {usage}}}')

    return [
        Route("/embedding", _served(native), methods=["POST"]),
        Route("/embeddings", _served(native), methods=["POST"]),
        Route("/v1/embeddings", _served(openai), methods=["POST"]),
    ]


def _served(handle: Handle) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        async def answer(body: Json) -> Response:
            try:
                return await handle(request, body)
            except ModelError as failure:
                return error(NOT_IMPLEMENTED, failure.message)

        return await posted(answer)(request)

    return endpoint


async def _embedded(
    embedder: Embedder, wanted: embedding.EmbeddingRequest, request: Request, item: Callable[[int, Vector], str]
) -> tuple[list[str], int]:
    """The vectors as JSON, and the tokens of all. Stops when nobody waits for them any more.

    Each is written when it comes: spelling a thousand vectors at once would hold up the streams of everybody else.
    """
    items: list[str] = []
    tokens = 0
    async with aclosing(embedder.embed(wanted)) as vectors:
        async for vector in vectors:
            if await request.is_disconnected():
                break
            items.append(item(len(items), vector))
            tokens += vector[1]
    return items, tokens


def _sent(text: str) -> Response:
    return Response(text, media_type="application/json")
