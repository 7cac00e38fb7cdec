"""The table of all routes, and the OpenAPI document, which is made from it as the server is."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lsp_harness.api.api_route import ApiCall, ApiRoute
from lsp_harness.api.api_schemas import NAMED_SCHEMAS, open_object, refer
from lsp_harness.api.routes.agent_routes import ROUTES as AGENT_ROUTES
from lsp_harness.api.routes.change_routes import CHANGE_ROUTES
from lsp_harness.api.routes.server_routes import KIND_ROUTES, SERVER_ROUTES
from lsp_harness.api.routes.session_routes import SESSION_ROUTES
from lsp_harness.wire.version import VERSION

INTRODUCTION = """The sessions of lsp-harness and foreign agents in terminals.

Every request needs `Authorization: Bearer TOKEN`. Every error is `{"error": {"code", "message", "resolution"}}`.
OpenAPI cannot describe WebSockets: `/ws/agents/{agent_id}/terminal` (`mode=text|binary`) and `/ws/events` (`agentId`,
`since`) are in docs/http.md. Texts of agents are not trusted: show them as text."""
WITHOUT_TOKEN = frozenset({"openPage", "exchangeKey"})
"""Operations that a code opens instead of a token."""


def make_document(routes: Sequence[ApiRoute]) -> dict[str, Any]:
    """Return the OpenAPI document of some routes."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _describe_operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "lsp-harness", "version": VERSION, "description": INTRODUCTION},
        "servers": [{"url": "http://127.0.0.1:3100"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(NAMED_SCHEMAS),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe_operation(route: ApiRoute) -> Mapping[str, Any]:
    path_fields = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    content: dict[str, Any] = {"application/json": {"schema": route.answer}}
    content |= {media: {"schema": {"type": "string"}} for media in route.streams}
    answers: dict[str, Any] = {str(route.status): {"description": route.summary}}
    if route.status not in (204, 303):
        answers[str(route.status)]["content"] = content
    codes = ", ".join(("UNAUTHORIZED", "FORBIDDEN", *route.errors))
    answers["default"] = {
        "description": f"An error: {codes}.",
        "content": {"application/json": {"schema": refer("Error")}},
    }
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.path.split("/")[1] or "page"],
        "parameters": [*path_fields, *(field.parameter for field in route.query)],
        "responses": answers,
    }
    if route.description:
        operation["description"] = route.description
    if route.name in WITHOUT_TOKEN:
        operation["security"] = []
    if route.body is not None:
        required = bool(route.body.get("required"))
        operation["requestBody"] = {"required": required, "content": {"application/json": {"schema": route.body}}}
    return operation


async def show_document(call: ApiCall) -> Any:
    """Return the description of this interface."""
    return make_document(ROUTES)


ROUTES: Sequence[ApiRoute] = (
    *AGENT_ROUTES,
    *CHANGE_ROUTES,
    *KIND_ROUTES,
    *SESSION_ROUTES,
    *SERVER_ROUTES,
    ApiRoute("GET", "/openapi.json", "showDocument", "Describe this interface.", show_document, open_object()),
)
"""All routes."""
