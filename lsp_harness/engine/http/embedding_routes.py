"""The routes that turn texts into vectors: `/embedding` of llama-server and `/v1/embeddings` of OpenAI."""

import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.embed.embedder import EmbeddedText, Embedder
from lsp_harness.engine.http.response import make_error_response, make_json_endpoint
from lsp_harness.errors import EngineRefused, ModelError
from lsp_harness.inference import embedding_request as embedding

Json = dict[str, Any]
Handler = Callable[[Request, Json], Awaitable[Response]]
NOT_IMPLEMENTED = 501


def list_routes(embedder: Embedder) -> list[BaseRoute]:
    """Return the routes over `embedder`."""

    async def embed_native(request: Request, body: Json) -> Response:
        embedding_request = embedding.read_request(body, "content" if "content" in body else "input")

        def to_json(index: int, embedded: EmbeddedText) -> str:
            return json.dumps({"index": index, "embedding": [embedded.vector]})

        items, _ = await _embed(embedder, embedding_request, request, to_json)
        return _json_response(f"[{','.join(items)}]")

    async def embed_openai(request: Request, body: Json) -> Response:
        embedding_request = embedding.read_request(body, "input")
        use_base64 = embedding.wants_base64(body)

        def to_json(index: int, embedded: EmbeddedText) -> str:
            vector = embedded.vector
            if body.get("dimensions") not in (None, len(vector)):
                raise EngineRefused(f"vectors of {embedder.name} have exactly {len(vector)} `dimensions`")
            values = embedding.encode_vector(vector) if use_base64 else vector
            return json.dumps({"object": "embedding", "index": index, "embedding": values})

        items, tokens = await _embed(embedder, embedding_request, request, to_json)
        usage = json.dumps({"prompt_tokens": tokens, "total_tokens": tokens})
        model = json.dumps(embedder.name)
        return _json_response(f'{{"object": "list", "model": {model}, "data": [{",".join(items)}], "usage": {usage}}}')

    return [
        Route("/embedding", _make_endpoint(embed_native), methods=["POST"]),
        Route("/embeddings", _make_endpoint(embed_native), methods=["POST"]),
        Route("/v1/embeddings", _make_endpoint(embed_openai), methods=["POST"]),
    ]


def _make_endpoint(handle: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that passes a request and its JSON body to `handle`."""

    async def endpoint(request: Request) -> Response:
        async def answer(body: Json) -> Response:
            try:
                return await handle(request, body)
            except ModelError as failure:
                return make_error_response(NOT_IMPLEMENTED, failure.message)

        return await make_json_endpoint(answer)(request)

    return endpoint


async def _embed(
    embedder: Embedder,
    embedding_request: embedding.EmbeddingRequest,
    request: Request,
    to_json: Callable[[int, EmbeddedText], str],
) -> tuple[list[str], int]:
    """Return the vectors as JSON and the number of tokens of all texts. Stop if the client disconnects.

    Each vector is formatted when it arrives. To format a thousand of them at once would delay the streams of all other
    clients.
    """
    items: list[str] = []
    tokens = 0
    async with aclosing(embedder.embed(embedding_request)) as embedded_texts:
        async for embedded in embedded_texts:
            if await request.is_disconnected():
                break
            items.append(to_json(len(items), embedded))
            tokens += embedded.tokens
    return items, tokens


def _json_response(text: str) -> Response:
    return Response(text, media_type="application/json")
