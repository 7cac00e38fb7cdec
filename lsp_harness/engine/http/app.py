"""The application behind the engine's socket: every dialect's routes over one host."""

from time import monotonic

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.engine.http import embedding_routes, metrics_route, native_routes, openai_routes
from lsp_harness.engine.http.engine_host import Host


def make_app(host: Host) -> ASGIApp:
    """The application; `host.last_used` moves with every request that uses the model."""

    async def health(_: Request) -> Response:
        # the model has a thread of its own: that this one answers says nothing of it
        return JSONResponse({"status": "ok", "silent_s": round(host.silent_s, 3)})

    routes = [
        Route("/health", health),
        *native_routes.routes(host),
        *openai_routes.routes(host),
        *embedding_routes.routes(host.embedder),
        *metrics_route.routes(host.meter, host.load),
    ]
    paths = {route.path for route in routes if isinstance(route, Route)}
    app = metrics_route.counted(Starlette(routes=routes), host.meter, paths)

    async def seen(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            host.last_used = monotonic()
        await app(scope, receive, send)

    return seen
