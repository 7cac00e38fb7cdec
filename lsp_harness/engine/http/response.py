"""HTTP answers: one JSON object or a stream of server-sent events. The work stops when the client disconnects."""

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
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    501: "not_supported_error",
    503: "unavailable_error",
}
"""The error types of llama-server by HTTP status."""


def make_error_response(status: int, message: str) -> Response:
    """Return an error in the form of llama-server and OpenAI."""
    body = {"code": status, "message": message, "type": ERROR_TYPES.get(status, "server_error")}
    return JSONResponse({"error": body}, status)


def make_failure_response(failure: HarnessError) -> Response:
    """Return the error for a request that failed before its answer began."""
    if isinstance(failure, EngineBusy | EngineUnavailable):
        return make_error_response(503, failure.message)
    return make_error_response(400 if isinstance(failure, EngineRefused) else 500, failure.message)


def make_json_endpoint(handle: Callable[[Json], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that passes the JSON object in the body of a request to `handle`."""

    async def endpoint(request: Request) -> Response:
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return make_error_response(400, "the body is not JSON")
        if not isinstance(body, dict):
            return make_error_response(400, "the body must be a JSON object")
        try:
            return await handle(cast("Json", body))
        except HarnessError as failure:
            return make_failure_response(failure)

    return endpoint


class ChunkFormat(Protocol):
    """The form of chunks in one dialect."""

    ending: str
    """The data of the last event; empty for none."""

    def events(self, chunk: Chunk) -> Iterable[Json]:
        """Return the events of a stream for one chunk."""
        ...

    def whole(self, chunks: Sequence[Chunk]) -> Any:
        """Return all chunks as one object."""
        ...


class ChunkResponse(Response):
    """An answer that consists of chunks.

    Args:
        chunks: The chunks. They are closed if the client disconnects.
        chunk_format: The form in which the chunks are sent.
        stream: Whether they are sent as a stream of events.
    """

    def __init__(self, chunks: AsyncIterator[Chunk], chunk_format: ChunkFormat, *, stream: bool) -> None:
        self.chunks = chunks
        self.chunk_format = chunk_format
        self.stream = stream
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        async with (
            aclosing(cast("Any", self.chunks)),
            aclosing(cast("Any", _until_disconnect(self.chunks, receive))) as chunks,
        ):
            try:
                first = await anext(chunks, None)
            except HarnessError as failure:
                await make_failure_response(failure)(scope, receive, send)
                return
            if first is None:
                return
            if self.stream:
                await self._send_events(first, chunks, send)
            else:
                await self._send_whole(first, chunks, scope, receive, send)

    async def _send_events(self, first: Chunk, chunks: AsyncIterator[Chunk], send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def send_event(data: str) -> None:
            await send({"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True})

        for body in self.chunk_format.events(first):
            await send_event(json.dumps(body))
        try:
            async for chunk in chunks:
                for body in self.chunk_format.events(chunk):
                    await send_event(json.dumps(body))
            if self.chunk_format.ending:
                await send_event(self.chunk_format.ending)
        except HarnessError as failure:
            await send_event(json.dumps({"error": {"code": 500, "message": failure.message, "type": "server_error"}}))
        await send({"type": "http.response.body", "body": b""})

    async def _send_whole(
        self, first: Chunk, chunks: AsyncIterator[Chunk], scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            received = [first, *[chunk async for chunk in chunks]]
        except HarnessError as failure:
            await make_failure_response(failure)(scope, receive, send)
            return
        # If the client has disconnected, the last chunk is missing and nothing is sent.
        if received[-1].stop:
            await JSONResponse(self.chunk_format.whole(received))(scope, receive, send)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _until_disconnect(chunks: AsyncIterator[Chunk], receive: Receive) -> AsyncIterator[Chunk]:
    """Yield the chunks until the client disconnects."""
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    step: asyncio.Future[Chunk | None] | None = None
    try:
        while True:
            step = asyncio.ensure_future(anext(chunks, None))
            await asyncio.wait({step, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                return
            chunk = step.result()
            if chunk is None:
                return
            yield chunk
    finally:
        disconnect.cancel()
        if step and not step.done():
            step.cancel()
            await asyncio.wait({step})
