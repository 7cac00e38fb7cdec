"""The HTTP application of the engine: the routes of all dialects, and `/metrics` in the text format of Prometheus."""

from collections.abc import Callable, Collection
from time import monotonic

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_harness.engine.http import embedding_routes, native_routes, openai_routes
from lsp_harness.engine.http.engine_host import EngineHost
from lsp_harness.engine.meter import CONTENT_TYPE, EngineLoad, Meter

OTHER_PATH = "other"
"""The label of a path that is no route. Without it a caller could create any number of labels."""


def list_metrics_routes(meter: Meter, read_load: Callable[[], EngineLoad]) -> list[BaseRoute]:
    """Return the route of the metrics.

    Args:
        meter: The counters.
        read_load: Returns what the engine holds at that moment.
    """

    async def metrics(_: Request) -> Response:
        return Response(meter.render(read_load()), headers={"Content-Type": CONTENT_TYPE})

    return [Route("/metrics", metrics)]


def count_calls(app: ASGIApp, meter: Meter, paths: Collection[str]) -> ASGIApp:
    """Return an application that counts each call of `app` by path and status.

    Args:
        app: The application.
        meter: The counters.
        paths: The paths that get a label of their own.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start":
                meter.record_call(scope["path"] if scope["path"] in paths else OTHER_PATH, message["status"])
            await send(message)

        await app(scope, receive, send_and_count if scope["type"] == "http" else send)

    return call


def make_app(host: EngineHost) -> ASGIApp:
    """Return the application. Each POST request updates `host.last_used_s`."""

    async def health(_: Request) -> Response:
        # This route answers even if the thread of the model is stuck, so it reports how long that thread is silent.
        return JSONResponse({"status": "ok", "silent_s": round(host.silent_s, 3)})

    routes = [
        Route("/health", health),
        *native_routes.list_routes(host),
        *openai_routes.list_routes(host),
        *embedding_routes.list_routes(host.embedder),
        *list_metrics_routes(host.meter, host.current_load),
    ]
    paths = {route.path for route in routes if isinstance(route, Route)}
    app = count_calls(Starlette(routes=routes), host.meter, paths)

    async def record_use(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            host.last_used_s = monotonic()
        await app(scope, receive, send)

    return record_use
