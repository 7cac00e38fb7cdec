"""The routes of llama-server, and our own route `/cancel`.

They are `/props`, `/slots`, `/tokenize`, `/detokenize`, `/apply-template`, `/completion` and `/infill`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from lsp_harness.engine.decode.fim_prompt import FimOrder
from lsp_harness.engine.http import openai_routes
from lsp_harness.engine.http.engine_host import EngineHost, offload_long_text
from lsp_harness.engine.http.response import ChunkResponse, make_json_endpoint
from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk

Json = dict[str, Any]


class NativeFormat:
    """The form of chunks in the dialect of llama-server.

    Args:
        fields: The only fields of the answer that the client wants; none means all. In a stream this applies to the
            last event.
    """

    ending = ""

    def __init__(self, fields: Sequence[str] = ()) -> None:
        self._fields = list(fields)

    def events(self, chunk: Chunk) -> Iterable[Json]:
        """Return the event for one chunk."""
        body = dialect.chunk_to_json(chunk)
        return (dialect.select_fields(body, self._fields) if chunk.stop and self._fields else body,)

    def whole(self, chunks: Sequence[Chunk]) -> Any:
        """Return one object, or with several candidates (`n_cmpl`) a list of objects."""
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


def read_messages(value: Any) -> list[tuple[str, str]]:
    """Return the (role, content) of the messages in a request."""
    messages = [_read_message(m) for m in cast("list[Any]", value)] if isinstance(value, list) else []
    if not messages:
        raise EngineRefused("`messages` must be a list of {role, content}")
    return messages


def read_fim_order(body: Json) -> FimOrder | None:
    """Return the order of a fill-in-the-middle prompt, or None for the one that suits the model."""
    match body.get("fim_order"):
        case None:
            return None
        case "suffix-first" | "prefix-suffix-middle" as order:
            return order
        case _:
            raise EngineRefused("`fim_order` must be suffix-first or prefix-suffix-middle")


def _read_message(value: Any) -> tuple[str, str]:
    match value:
        case {"role": str(role), "content": str(content)}:
            return role, content
        case _:
            raise EngineRefused("`messages` must be a list of {role, content}")


def list_routes(host: EngineHost) -> list[BaseRoute]:
    """Return the routes over `host`."""
    vocabulary = host.vocabulary

    async def props(_: Request) -> Response:
        return JSONResponse(host.props())

    async def slots(_: Request) -> Response:
        return JSONResponse(host.cached_sequences())

    async def tokenize(body: Json) -> Response:
        content = body.get("content", "")
        if body.get("count") and isinstance(content, list):
            texts = [str(text) for text in cast("list[Any]", content)]
            counts = await offload_long_text(
                lambda: [len(vocabulary.tokenize(text)) for text in texts], sum(map(len, texts))
            )
            return JSONResponse({"counts": counts})
        if not isinstance(content, str):
            raise EngineRefused("`content` must be a text, or a list of texts with `count`")
        special = bool(body.get("parse_special", True))
        tokens = await offload_long_text(lambda: vocabulary.tokenize(content, special=special), len(content))
        return JSONResponse({"tokens": tokens})

    async def detokenize(body: Json) -> Response:
        tokens = body.get("tokens")
        if not isinstance(tokens, list) or not all(
            type(token) is int and 0 <= token < vocabulary.size for token in cast("list[Any]", tokens)
        ):
            raise EngineRefused("`tokens` must be a list of token ids")
        data = b"".join(vocabulary.piece(token, special=True) for token in cast("list[int]", tokens))
        return JSONResponse({"content": data.decode("utf-8", "replace")})

    async def apply_template(body: Json) -> Response:
        return JSONResponse({"prompt": await host.format_chat(read_messages(body.get("messages")))})

    async def completion(body: Json) -> Response:
        request = dialect.read_completion(body | {"grammar": openai_routes.read_grammar(body)})
        chunks = await host.submit(request)
        return ChunkResponse(chunks, NativeFormat(dialect.read_response_fields(body)), stream=bool(body.get("stream")))

    async def infill(body: Json) -> Response:
        request = dialect.read_infill(body)
        chunks = await host.submit(request, read_fim_order(body))
        return ChunkResponse(chunks, NativeFormat(dialect.read_response_fields(body)), stream=bool(body.get("stream")))

    async def cancel(body: Json) -> Response:
        name, index = body.get("id"), body.get("index")
        if not isinstance(name, str) or not name or not (index is None or type(index) is int):
            raise EngineRefused("`id` must name a request, and `index` one of its candidates (all without it)")
        return JSONResponse({"cancelled": host.scheduler.cancel(str(body.get("client", "")), name, index)})

    return [
        Route("/props", props),
        Route("/slots", slots),
        Route("/tokenize", make_json_endpoint(tokenize), methods=["POST"]),
        Route("/detokenize", make_json_endpoint(detokenize), methods=["POST"]),
        Route("/apply-template", make_json_endpoint(apply_template), methods=["POST"]),
        Route("/completion", make_json_endpoint(completion), methods=["POST"]),
        Route("/infill", make_json_endpoint(infill), methods=["POST"]),
        Route("/cancel", make_json_endpoint(cancel), methods=["POST"]),
    ]
