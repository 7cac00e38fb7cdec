"""Answers: one JSON object or a stream of server-sent events, for as long as somebody reads them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Protocol, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from lsp_harness.errors import EngineBusy, EngineRefused, EngineUnavailable, HarnessError
from lsp_harness.inference.request import Chunk

Json = dict[str, Any]
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    501: "not_supported_error",
    503: "unavailable_error",
}


def error(status: int, message: str) -> Response:
    """An error as llama-server and OpenAI write it."""
    body = {"code": status, "message": message, "type": KINDS.get(status, "server_error")}
    return JSONResponse({"error": body}, status)


def refused(failure: HarnessError) -> Response:
    """What went wrong with a request that has not been answered yet."""
    if isinstance(failure, EngineBusy | EngineUnavailable):
        return error(503, failure.message)
    return error(400 if isinstance(failure, EngineRefused) else 500, failure.message)


def posted(handle: Callable[[Json], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """A route that takes a JSON object."""

    async def endpoint(request: Request) -> Response:
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return error(400, "the body is not JSON")
        if not isinstance(body, dict):
            return error(400, "the body must be a JSON object")
        try:
            return await handle(cast("Json", body))
        except HarnessError as failure:
            return refused(failure)

    return endpoint


class Form(Protocol):
    """How chunks are written in one dialect."""

    ending: str
    """The data of a last event; empty for none."""

    def events(self, chunk: Chunk) -> Iterable[Json]:
        """What is sent for one chunk of a stream."""
        ...

    def whole(self, chunks: Sequence[Chunk]) -> Any:
        """All chunks as one object."""
        ...


class Answer(Response):
    """Chunks in a `form`, streamed or whole. Nobody reading any more stops the work."""

    def __init__(self, chunks: AsyncIterator[Chunk], form: Form, *, stream: bool) -> None:
        self.chunks = chunks
        self.form = form
        self.stream = stream
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            aclosing(cast("Any", self.chunks)),
            aclosing(cast("Any", _while_there(self.chunks, receive))) as chunks,
        ):
            try:
                first = await anext(chunks, None)
            except HarnessError as failure:
                await refused(failure)(scope, receive, send)
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

        async def event(data: str) -> None:
            await send({"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True})

        for body in self.form.events(first):
            await event(json.dumps(body))
        try:
            async for chunk in chunks:
                for body in self.form.events(chunk):
                    await event(json.dumps(body))
            if self.form.ending:
                await event(self.form.ending)
        except HarnessError as failure:
            await event(json.dumps({"error": {"code": 500, "message": failure.message, "type": "server_error"}}))
        await send({"type": "http.response.body", "body": b""})

    async def _whole(
        self, first: Chunk, chunks: AsyncIterator[Chunk], scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            parts = [first, *[chunk async for chunk in chunks]]
        except HarnessError as failure:
            await refused(failure)(scope, receive, send)
            return
        # a reader that left in the middle gets no half answer
        if parts[-1].stop:
            await JSONResponse(self.form.whole(parts))(scope, receive, send)


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
