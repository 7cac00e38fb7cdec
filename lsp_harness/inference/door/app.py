"""The application behind the engine's socket: every dialect's routes over one host."""

from time import monotonic

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.inference.door import native
from lsp_harness.inference.door.host import Host


def make_app(host: Host) -> ASGIApp:
    """The application; `host.last_used` moves with every request that uses the model."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    app = Starlette(routes=[Route("/health", health), *native.routes(host)])

    async def seen(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            host.last_used = monotonic()
        await app(scope, receive, send)

    return seen
