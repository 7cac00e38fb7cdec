"""`lspHarness.models`: list the models of the catalogue, for a client that lets the user choose one.

To switch the model, the client sets `lspHarness.model.path` in its own settings, where the other choices of the user
are.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.models",
    arguments="[]",
    description="lists the catalogue of models. To switch the model, set `lspHarness.model.path`",
    result="for each model `name`, `title`, `kind`, `bytes`, `licence`, `present`, `current`, `note`",
)


async def run(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> list[dict[str, Any]]:
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
