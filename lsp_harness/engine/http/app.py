"""The HTTP application of the engine: the routes of all dialects."""

from time import monotonic

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.engine.http import embedding_routes, metrics_route, native_routes, openai_routes
from lsp_harness.engine.http.engine_host import EngineHost


def make_app(host: EngineHost) -> ASGIApp:
    """Return the application. Each POST request updates `host.last_used_s`."""

    async def health(_: Request) -> Response:
        # This route answers even if the thread of the model is stuck, so it reports how long that thread is silent.
        return JSONResponse({"status": "ok", "silent_s": round(host.silent_s, 3)})

    routes = [
        Route("/health", health),
        *native_routes.routes(host),
        *openai_routes.routes(host),
        *embedding_routes.routes(host.embedder),
        *metrics_route.routes(host.meter, host.current_load),
    ]
    paths = {route.path for route in routes if isinstance(route, Route)}
    app = metrics_route.count_calls(Starlette(routes=routes), host.meter, paths)

    async def record_use(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            host.last_used_s = monotonic()
        await app(scope, receive, send)

    return record_use
