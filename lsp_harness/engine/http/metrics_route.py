"""`GET /metrics`: what the engine does, for Prometheus and whatever reads its text format."""

from collections.abc import Callable, Collection

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_harness.engine.meter import CONTENT_TYPE, Load, Meter

ELSEWHERE = "other"
"""The label of paths that are no route: a caller must not be able to make up new ones."""


def routes(meter: Meter, load: Callable[[], Load]) -> list[BaseRoute]:
    """The route over `meter`; `load` tells what the engine holds at that moment."""

    async def metrics(_: Request) -> Response:
        return Response(meter.exposition(load()), headers={"Content-Type": CONTENT_TYPE})

    return [Route("/metrics", metrics)]


def counted(app: ASGIApp, meter: Meter, paths: Collection[str]) -> ASGIApp:
    """The same application; each call to one of its `paths` is counted with the status of its answer."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                meter.called(scope["path"] if scope["path"] in paths else ELSEWHERE, message["status"])
            await send(message)

        await app(scope, receive, noting if scope["type"] == "http" else send)

    return call
