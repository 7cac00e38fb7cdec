"""A server over real sockets in this process, with prepared answers and recorded requests."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass
class Reply:
    """Events are streamed as server-sent ones, each as JSON unless it is a text; None breaks the connection off there,
    and an asyncio.Event is waited for. Without events `json` is the body."""

    events: Sequence[Any] = ()
    json: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class ReceivedRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


Handler = Callable[[Any], Reply]


class FakeServer:
    """A web server with prepared replies. `on` maps (method, path) to a reply, a list of replies or a function."""

    def __init__(self) -> None:
        self.on: dict[tuple[str, str], Reply | list[Reply] | Handler] = {}
        self.requests: list[ReceivedRequest] = []
        self.left = asyncio.Event()
        """A client went away in the middle of a stream."""
        self.url = ""

    def bodies(self, path: str) -> list[Any]:
        return [result.body for result in self.requests if result.path == path]

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        body = json.loads(raw) if raw else None
        self.requests.append(ReceivedRequest(request.method, request.url.path, dict(request.headers), body))
        reply = self.on.get((request.method, request.url.path), Reply(json={"error": {"message": "no"}}, status=404))
        if isinstance(reply, list):
            reply = reply.pop(0)
        elif not isinstance(reply, Reply):
            reply = reply(body)
        if reply.events:
            return StreamingResponse(self._streamed(reply), reply.status, reply.headers, "text/event-stream")
        return JSONResponse(reply.json, reply.status, reply.headers)

    async def _streamed(self, reply: Reply) -> AsyncIterator[str]:
        try:
            for event in reply.events:
                if event is None:
                    raise ConnectionAbortedError
                if isinstance(event, asyncio.Event):
                    await event.wait()
                else:
                    yield f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
        except asyncio.CancelledError:
            self.left.set()
            raise


@asynccontextmanager
async def open_server(server: FakeServer, port: int = 0) -> AsyncIterator[FakeServer]:
    """Serve until the block ends. `port` 0 is any free one."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = Starlette(routes=[Route("/{path:path}", server.answer, methods=["GET", "POST"])])
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    web = uvicorn.Server(config)
    running = asyncio.create_task(web.serve(sockets=[listener]))
    try:
        yield server
    finally:
        web.should_exit = web.force_exit = True
        await running
