"""The models that a server lists, and how each can fill in the middle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.backends.detection import is_llama_server
from lsp_harness.inference.backends.endpoint import Endpoint, SilenceLimits
from lsp_harness.inference.backends.fleet import Fleet
from lsp_harness.inference.backends.model_family import find_family
from lsp_harness.inference.backends.server_supply import Server, ask_with_retries
from lsp_harness.inference.providers import Target

MODEL_PAGE_SIZE = 1000
"""Models per page of a service that pages its list; no service has more."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers."""

    name: str
    owner: str
    infill: str
    """How a fill-in-the-middle prompt is sent; empty if no way is known."""


async def list_served_models(targets: Sequence[Target], settings: Engine) -> list[ServedModel]:
    """Return the models of a server, sorted by name. Raise EngineError.

    Args:
        targets: Replicas of the server. One of them must answer.
        settings: The time limits and the number of retries.
    """
    limits = SilenceLimits(settings.first_token_seconds, settings.next_token_seconds)
    fleet = Fleet([Server(Endpoint(target, limits)) for target in targets], settings.retries)
    try:
        return sorted(await ask_with_retries(fleet, _list_models), key=lambda model: model.name)
    finally:
        await fleet.aclose()


async def _list_models(server: Server) -> list[ServedModel]:
    endpoint, target = server.endpoint, server.endpoint.target
    is_llama = target.dialect == "llama-server" or (
        target.dialect == "auto" and is_llama_server(await endpoint.probe_json("/props"))
    )
    path = f"/v1/models?limit={MODEL_PAGE_SIZE}" if target.dialect == "anthropic" else "/v1/models"
    rows = cast("list[Json]", (await endpoint.call("GET", path))["data"])
    return [
        ServedModel(
            name := str(row["id"]), str(row.get("owned_by") or ""), _infill_method(target, name, is_llama=is_llama)
        )
        for row in rows
    ]


def _infill_method(target: Target, model: str, *, is_llama: bool) -> str:
    """Return the way to fill in the middle. A llama-server can read the tokens in the model's file."""
    if target.dialect == "anthropic":
        return ""
    try:
        family = find_family(target.fim, model)
    except EngineRefused:
        return "by the server itself" if is_llama and target.fim != "none" else ""
    return f"by the tokens of {family.name}" if family else "as a suffix"
