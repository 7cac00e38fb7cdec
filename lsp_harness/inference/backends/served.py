"""What a server has: the models it lists, and which of them could complete."""

from dataclasses import dataclass
from typing import cast

from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.backends.endpoint import Endpoint, Patience
from lsp_harness.inference.backends.family import family_of
from lsp_harness.inference.backends.fleet import Fleet
from lsp_harness.inference.backends.supply import Server, tried
from lsp_harness.inference.providers import Target

MOST = 1000
"""Models asked for at once where a service pages; more than any has."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model by the name it is asked for."""

    name: str
    owner: str
    infill: str
    """How it is given a hole: by the tokens of a family, or with `suffix`; empty where no way is known."""


async def served(target: Target, settings: Engine) -> list[Served]:
    """The models of the server at `target`, by name. Raises EngineError."""
    endpoint = Endpoint(target, Patience(settings.first_token_seconds, settings.next_token_seconds))
    fleet = Fleet([Server(endpoint)], settings.retries)
    path = f"/v1/models?limit={MOST}" if target.dialect == "anthropic" else "/v1/models"

    async def ask(server: Server) -> list[Served]:
        rows = cast("list[Json]", (await server.endpoint.call("GET", path))["data"])
        return [Served(row["id"], str(row.get("owned_by") or ""), _infill(target, row["id"])) for row in rows]

    try:
        return sorted(await tried(fleet, ask), key=lambda model: model.name)
    finally:
        await fleet.aclose()


def _infill(target: Target, model: str) -> str:
    if target.dialect == "anthropic":
        return ""
    try:
        family = family_of(target.fim, model)
    except EngineRefused:
        return ""
    return f"by the tokens of {family.name}" if family else "as a suffix"
