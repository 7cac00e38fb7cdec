"""The engine's HTTP door, in llama-server's dialect.

Routes: `/health`, `/props`, `/tokenize`, `/detokenize`, `/apply-template`, `/completion`, `/infill`. An answer stops being computed at
the next token once its reader is gone.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from time import monotonic
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lsp_harness.errors import EngineBusy, EngineRefused, HarnessError
from lsp_harness.inference import dialect
from lsp_harness.inference.fim import Order, assemble
from lsp_harness.inference.generate import Work
from lsp_harness.inference.llama import Llama
from lsp_harness.inference.request import Chunk, Continuation, Priority
from lsp_harness.inference.scheduler import Scheduler

Json = dict[str, Any]


class Engine:
    """The model behind the door."""

    def __init__(self, llama: Llama, scheduler: Scheduler, *, name: str, order: Order, facts: Json) -> None:
        self.llama = llama
        self.scheduler = scheduler
        self.name = name
        self.order: Order = order
        self.facts = facts
        self.last_used = monotonic()

    def props(self) -> Json:
        return {
            "model_alias": self.name,
            "default_generation_settings": {"n_ctx": self.llama.n_ctx},
            "total_slots": self.llama.n_seq,
            "pid": os.getpid(),
            "fim_order": self.order,
            "fim_tokens": self.llama.fim,
            "pending": self.scheduler.pending,
            "tokens_generated_total": self.llama.tokens_generated,
            **self.facts,
        }

    def work(self, request: Continuation) -> Work:
        parts = (request.prompt,) if isinstance(request.prompt, str) else request.prompt
        tokens: list[int] = []
        for part in parts:
            if isinstance(part, str):
                tokens += self.llama.tokenize(part, special=True)
            elif 0 <= part < self.llama.n_vocab:
                tokens.append(part)
            else:
                raise EngineRefused(f"token {part} is not in this model's vocabulary")
        if not tokens:
            raise EngineRefused("the prompt is empty")
        return Work(tokens, request.sampling)


def _error(status: int, message: str) -> Response:
    kinds = {400: "invalid_request_error", 503: "unavailable_error"}
    return JSONResponse(
        {"error": {"code": status, "message": message, "type": kinds.get(status, "server_error")}}, status
    )


def _turn(message: Any) -> tuple[str, str]:
    match message:
        case {"role": str(role), "content": str(content)}:
            return role, content
        case _:
            raise EngineRefused("`messages` must be a list of {role, content}")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _while_there(chunks: AsyncIterator[Chunk], receive: Receive) -> AsyncIterator[Chunk]:
    """The chunks, for as long as somebody reads them."""
    gone = asyncio.ensure_future(_gone(receive))
    step: asyncio.Future[Chunk | None] | None = None
    try:
        while True:
            step = asyncio.ensure_future(anext(chunks, None))
            await asyncio.wait({step, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                return
            chunk = step.result()
            if chunk is None:
                return
            yield chunk
    finally:
        gone.cancel()
        if step and not step.done():
            step.cancel()
            await asyncio.wait({step})


class Answer(Response):
    """Server-sent events, or one object, from the same chunks."""

    def __init__(self, chunks: AsyncIterator[Chunk], *, stream: bool) -> None:
        self.chunks = chunks
        self.stream = stream
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            aclosing(cast("Any", self.chunks)),
            aclosing(cast("Any", _while_there(self.chunks, receive))) as chunks,
        ):
            try:
                first = await anext(chunks, None)
            except HarnessError as error:
                status = 503 if isinstance(error, EngineBusy) else 400 if isinstance(error, EngineRefused) else 500
                await _error(status, error.message)(scope, receive, send)
                return
            if first is None:
                return
            if self.stream:
                await self._events(first, chunks, send)
            else:
                await self._whole(first, chunks, scope, receive, send)

    async def _events(self, first: Chunk, chunks: AsyncIterator[Chunk], send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def event(body: Json) -> None:
            await send(
                {"type": "http.response.body", "body": f"data: {json.dumps(body)}\n\n".encode(), "more_body": True}
            )

        await event(dialect.from_chunk(first))
        try:
            async for chunk in chunks:
                await event(dialect.from_chunk(chunk))
        except HarnessError as error:
            await event({"error": {"code": 500, "message": error.message, "type": "server_error"}})
        await send({"type": "http.response.body", "body": b""})

    async def _whole(
        self, first: Chunk, chunks: AsyncIterator[Chunk], scope: Scope, receive: Receive, send: Send
    ) -> None:
        parts, last = [first.text], first
        try:
            async for chunk in chunks:
                parts.append(chunk.text)
                last = chunk
        except HarnessError as error:
            await _error(500, error.message)(scope, receive, send)
            return
        if last.stop:
            body = dialect.from_chunk(last) | {"content": "".join(parts)}
            await JSONResponse(body)(scope, receive, send)


def make_app(engine: Engine) -> Starlette:
    """The application; `engine.last_used` moves with every request that uses the model."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def props(_: Request) -> Response:
        return JSONResponse(engine.props())

    async def tokenize(body: Json) -> Response:
        content = body.get("content", "")
        if body.get("count") and isinstance(content, list):
            texts = cast("list[Any]", content)
            return JSONResponse({"counts": [len(engine.llama.tokenize(str(text))) for text in texts]})
        if not isinstance(content, str):
            raise EngineRefused("`content` must be a text, or a list of texts with `count`")
        return JSONResponse({"tokens": engine.llama.tokenize(content, special=bool(body.get("parse_special", True)))})

    async def detokenize(body: Json) -> Response:
        tokens = body.get("tokens")
        if not isinstance(tokens, list) or not all(
            type(t) is int and 0 <= t < engine.llama.n_vocab for t in cast("list[Any]", tokens)
        ):
            raise EngineRefused("`tokens` must be a list of token ids")
        data = b"".join(engine.llama.piece(t, special=True) for t in cast("list[int]", tokens))
        return JSONResponse({"content": data.decode("utf-8", "replace")})

    async def apply_template(body: Json) -> Response:
        messages = body.get("messages")
        turns = [_turn(m) for m in cast("list[Any]", messages)] if isinstance(messages, list) else []
        if not turns:
            raise EngineRefused("`messages` must be a list of {role, content}")
        return JSONResponse({"prompt": engine.llama.chat(turns)})

    def answer(work: Work, priority: Priority, body: Json) -> Response:
        return Answer(engine.scheduler.submit(work, priority), stream=bool(body.get("stream")))

    async def completion(body: Json) -> Response:
        request = dialect.completion(body)
        return answer(engine.work(request), request.priority, body)

    async def infill(body: Json) -> Response:
        request = dialect.infill(body)
        order: Order = "prefix-suffix-middle" if body.get("fim_order") == "prefix-suffix-middle" else engine.order
        return answer(assemble(engine.llama, request, order), request.priority, body)

    def posted(handle: Callable[[Json], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            engine.last_used = monotonic()
            try:
                body = await request.json()
            except (ValueError, RecursionError):
                return _error(400, "the body is not JSON")
            if not isinstance(body, dict):
                return _error(400, "the body must be a JSON object")
            try:
                return await handle(cast("Json", body))
            except EngineRefused as error:
                return _error(400, error.message)

        return endpoint

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/props", props),
            *(
                Route(path, posted(handle), methods=["POST"])
                for path, handle in (
                    ("/tokenize", tokenize),
                    ("/detokenize", detokenize),
                    ("/apply-template", apply_template),
                    ("/completion", completion),
                    ("/infill", infill),
                )
            ),
        ]
    )
