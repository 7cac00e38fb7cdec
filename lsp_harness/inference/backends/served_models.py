"""What a server has: the models it lists, and which of them could complete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.backends.detection import is_llama_server
from lsp_harness.inference.backends.endpoint import Endpoint, Patience
from lsp_harness.inference.backends.fleet import Fleet
from lsp_harness.inference.backends.model_family import family_of
from lsp_harness.inference.backends.server_supply import Server, tried
from lsp_harness.inference.providers import Target

MOST = 1000
"""Models asked for at once where a service pages; more than any has."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model by the name it is asked for."""

    name: str
    owner: str
    infill: str
    """How it is given a hole; empty where no way is known."""


async def served(targets: Sequence[Target], settings: Engine) -> list[Served]:
    """The models of a server, by name; `targets` are replicas, of which one has to answer. Raises EngineError."""
    patience = Patience(settings.first_token_seconds, settings.next_token_seconds)
    fleet = Fleet([Server(Endpoint(target, patience)) for target in targets], settings.retries)
    try:
        return sorted(await tried(fleet, _listed), key=lambda model: model.name)
    finally:
        await fleet.aclose()


async def _listed(server: Server) -> list[Served]:
    endpoint, target = server.endpoint, server.endpoint.target
    itself = target.dialect == "llama-server" or (
        target.dialect == "auto" and is_llama_server(await endpoint.look("/props"))
    )
    path = f"/v1/models?limit={MOST}" if target.dialect == "anthropic" else "/v1/models"
    rows = cast("list[Json]", (await endpoint.call("GET", path))["data"])
    return [
        Served(name := str(row["id"]), str(row.get("owned_by") or ""), _infill(target, name, itself=itself))
        for row in rows
    ]


def _infill(target: Target, model: str, *, itself: bool) -> str:
    """`itself`: the server can ask the model's own file."""
    if target.dialect == "anthropic":
        return ""
    try:
        family = family_of(target.fim, model)
    except EngineRefused:
        return "by the server itself" if itself and target.fim != "none" else ""
    return f"by the tokens of {family.name}" if family else "as a suffix"
