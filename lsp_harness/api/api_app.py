"""The application: the table of routes behind the guard."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from lsp_harness.api.access.request_guard import RequestGuard
from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_errors import InvalidApiRequest, NotFound, WrongMethod, make_error_answer
from lsp_harness.api.api_route import ApiRoute
from lsp_harness.api.inspector_page import list_inspector_routes
from lsp_harness.api.routes.route_table import ROUTES
from lsp_harness.api.routes.socket_routes import list_socket_routes
from lsp_harness.errors import HarnessError

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(context: ApiContext, token: str, port: int) -> ASGIApp:
    """Return the application.

    Args:
        context: The settings, harness, sessions and agents of the server.
        token: The token of the user.
        port: The port on which the server listens.
    """
    by_path: dict[str, dict[str, ApiRoute]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    # a fixed address must be tried before one with variable parts
    paths = sorted(by_path, key=lambda path: path.count("{"))
    routes: list[BaseRoute] = [
        Route(path, _make_endpoint(context, by_path[path]), methods=list(by_path[path])) for path in paths
    ]
    app = Starlette(
        routes=[*routes, *list_inspector_routes(), *list_socket_routes(context)],
        exception_handlers={HTTPException: _answer_http_error, HarnessError: _answer_error},
    )
    app.router.redirect_slashes = False
    return RequestGuard(app, token, context.browsers, port)


def _make_endpoint(context: ApiContext, routes: Mapping[str, ApiRoute]) -> Endpoint:
    async def respond(request: Request) -> Response:
        # HEAD is answered as GET is, without a body
        route = routes.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            raise WrongMethod("this address has no such method", _describe_methods(list(routes)))
        return await route.respond(context, request)

    return respond


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HarnessError)
    return make_error_answer(error)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return make_error_answer(WrongMethod("this address has no such method", "see GET /openapi.json"))
    if error.status_code == 404:
        return make_error_answer(NotFound("there is nothing at this address", "see GET /openapi.json"))
    return make_error_answer(InvalidApiRequest("the request is not valid", "see GET /openapi.json"))


def _describe_methods(methods: Sequence[str]) -> str:
    return f"it has {', '.join(methods)}"
