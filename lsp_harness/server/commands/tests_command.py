"""`lspHarness.tests`: write tests of the function at a place, into the test file of the module or a new one."""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri
from lsp_harness.server.execution.edit_application import EDIT_RESULT, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.tests",
    arguments="[{uri, range}]",
    description="writes tests of the function there (Python), into the test file of the module or a new one",
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Write Tests", result_title="Tests", handler="edit", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return await execute_edit(client, snapshot, params, "Tests with lsp-harness", client.harness.edits.tests)
