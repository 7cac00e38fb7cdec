"""`lspHarness.repairTests`: make the failing tests of a file pass."""

from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri
from lsp_harness.server.execution.edit_application import EDIT_RESULT, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.repairTests",
    arguments="[{uri, range}]",
    description=(
        "runs the tests that depend on the file, and [repairs](repair-tests.md) the function of the selection, or "
        "without a selection the one that the failing tests run most"
    ),
    result=EDIT_RESULT,
    document=document_uri,
    palette=PaletteEntry(
        title="Repair Failing Tests", result_title="Repair", handler="edit", sends_selection=True, needs_trust=True
    ),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    async def repair(source: Snapshot, span: Span, report: Report) -> DocumentEdit:
        selected = span if source.document.data[slice(*span)].strip() else None
        return await client.harness.fixes.repair_tests(source, report, span=selected)

    return await execute_edit(client, snapshot, params, "Repair failing tests", repair)
