"""The route of the kinds of agents: which are installed, and where they can run."""

import asyncio
from collections.abc import Sequence
from typing import Any, get_args

from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.api_route import ApiCall, ApiRoute
from lsp_harness.runtime.adapter import AuthState
from lsp_harness.runtime.agent_spec import RUNNER_NAMES, TransportName


async def list_kinds(call: ApiCall) -> Any:
    """Return the kinds of agents and the runners."""
    agents = call.context.agents
    kinds = await agents.probe()
    return {"kinds": kinds, "runners": await asyncio.to_thread(agents.pool.runners.describe)}


KIND = schemas.answer(
    type=schemas.text("The kind, for POST /agents."),
    transports=schemas.list_of(
        schemas.text(enum=[*get_args(TransportName)]), "How to talk with it, the default first."
    ),
    program=schemas.text("The path of its program."),
    isInstalled=schemas.flag(),
    version=schemas.text("As its program says it. Empty if it says none."),
    isRecorded=schemas.flag("Whether lsp-harness knows the screens of this version."),
    auth=schemas.text("Whether it has a login or a key.", enum=[*get_args(AuthState)]),
    hint=schemas.text("What to do before it can be used."),
)
RUNNER = schemas.answer(
    runner=schemas.text(enum=[*RUNNER_NAMES]),
    problem=schemas.text("Why it cannot be used. Empty if it can."),
    closesNetwork=schemas.flag("Whether it can keep an agent from the network."),
)
KIND_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/runtime/kinds",
        "listKinds",
        "List the kinds of agents and the runners of this machine.",
        list_kinds,
        schemas.answer(kinds=schemas.list_of(KIND), runners=schemas.list_of(RUNNER)),
        description="Their own commands say it, without a prompt and without the network. It takes a second.",
        errors=("DENIED",),
    ),
)
"""The routes of the kinds of agents."""
