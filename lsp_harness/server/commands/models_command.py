"""`lspHarness.models`: the models of the catalogue, for a client that lets the user choose one.

To switch, the client sets `lspHarness.model.path` in its own settings: so the choice is kept where the user's others are.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.MODELS


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> list[dict[str, Any]]:
    from lsp_harness.inference.models import model_files
    from lsp_harness.inference.models.catalogue import cards

    return [
        {
            "name": card.name,
            "title": card.title,
            "kind": card.kind,
            "bytes": card.bytes or None,
            "licence": card.license,
            "present": model_files.model_state(card) == "present",
            "current": card.name == client.harness.config.model.path,
            "note": card.note or None,
        }
        for card in cards()
    ]
