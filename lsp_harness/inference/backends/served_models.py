"""The models that a server lists, and how each can fill in the middle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from lsp_harness.config.schema import EngineSettings
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import BackendKind, Json
from lsp_harness.inference.backends.backend_kinds import KINDS, kind_of
from lsp_harness.inference.backends.endpoint import Endpoint, SilenceLimits
from lsp_harness.inference.backends.fleet import Fleet
from lsp_harness.inference.backends.model_family import find_family
from lsp_harness.inference.backends.server_supply import ModelServer, ask_with_retries
from lsp_harness.inference.target import Target


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers."""

    name: str
    owner: str
    infill: str
    """How a fill-in-the-middle prompt is sent; empty if no way is known."""


async def list_served_models(targets: Sequence[Target], settings: EngineSettings) -> list[ServedModel]:
    """Return the models of a server, sorted by name. Raise EngineError.

    Args:
        targets: Replicas of the server. One of them must answer.
        settings: The time limits and the number of retries.
    """
    limits = SilenceLimits(settings.first_token_seconds, settings.next_token_seconds)
    fleet = Fleet([ModelServer(Endpoint(target, limits)) for target in targets], settings.retries)
    try:
        return sorted(await ask_with_retries(fleet, _list_models), key=lambda model: model.name)
    finally:
        await fleet.aclose()


async def _list_models(server: ModelServer) -> list[ServedModel]:
    endpoint, target = server.endpoint, server.endpoint.target
    kind = kind_of(target.dialect) or await _recognize_kind(endpoint)
    rows = cast("list[Json]", (await endpoint.call("GET", kind.model_list_path))["data"])
    names = [str(row["id"]) for row in rows]
    return [
        ServedModel(name, str(row.get("owned_by") or ""), _infill_method(kind, target.fim, name))
        for name, row in zip(names, rows, strict=True)
    ]


async def _recognize_kind(endpoint: Endpoint) -> BackendKind:
    """Return the kind of a server that the settings do not name."""
    for kind in KINDS:
        if kind.recognizes and await kind.recognizes(endpoint):
            return kind
    raise EngineRefused(f"{endpoint.name} does not list its models; check engine.url")


def _infill_method(kind: BackendKind, fim: str, model: str) -> str:
    """Return the way to fill in the middle; empty if no way is known."""
    if not kind.has_infill:
        return ""
    try:
        family = find_family(fim, model)
    except EngineRefused:
        return "by the server itself" if kind.reads_fim_tokens and fim != "none" else ""
    return f"by the tokens of {family.name}" if family else "as a suffix"
