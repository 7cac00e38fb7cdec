"""`lspHarness.docstring`: write a docstring for the function at a place."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri
from lsp_harness.server.execution.edit_application import EDIT_RESULT, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.docstring",
    arguments="[{uri, range}]",
    description="writes a docstring for the function there",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Write a Docstring", result_title="Docstring", handler="edit", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, "Docstring with lsp-harness", client.harness.edits.docstring)
