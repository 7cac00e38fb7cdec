"""`GET /metrics`: the counters of the engine in the text format of Prometheus."""

from collections.abc import Callable, Collection

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_harness.engine.meter import CONTENT_TYPE, EngineLoad, Meter

OTHER_PATH = "other"
"""The label of a path that is no route. Without it a caller could create any number of labels."""


def routes(meter: Meter, read_load: Callable[[], EngineLoad]) -> list[BaseRoute]:
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
