"""The table of all routes, from which both the server and the OpenAPI document are made."""

from collections.abc import Sequence
from typing import Any

from lsp_harness.api.agents.agent_routes import ROUTES as AGENT_ROUTES
from lsp_harness.api.agents.change_routes import CHANGE_ROUTES
from lsp_harness.api.agents.kind_routes import KIND_ROUTES
from lsp_harness.api.api_route import ApiCall, ApiRoute
from lsp_harness.api.api_schemas import open_object
from lsp_harness.api.openapi import make_document
from lsp_harness.api.server_routes import SERVER_ROUTES
from lsp_harness.api.sessions.session_routes import SESSION_ROUTES


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
