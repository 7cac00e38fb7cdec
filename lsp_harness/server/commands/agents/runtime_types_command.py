"""`lspHarness.runtime.types`: lists the kinds of agents, and whether their programs are installed."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.runtime.types",
    arguments="[]",
    description=(
        "lists the kinds of agents, and what is known of their programs. Each is asked for its version and "
        "its login, without the network"
    ),
    result=(
        "`types`: for each `type`, `transports` (the default first), `program`, `isInstalled`, `version`, "
        "`isRecorded` (whether its screens are known in this version), `auth` (`ok`, `missing`, `unknown` or "
        "`not needed`) and `hint` (what to do)"
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    return {"types": await client.agents.probe()}
