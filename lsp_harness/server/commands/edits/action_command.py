"""`lspHarness.action`: edit some lines by an action that the settings define."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import document_uri, text_argument
from lsp_harness.server.execution.edit_application import EDIT_RESULT, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.action",
    arguments="[{uri, range, name}]",
    description="edits these lines by an [action of the project](actions.md)",
    result=EDIT_RESULT,
    document=document_uri,
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    name = text_argument(params, "name")

    def request_edit(source: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
        return client.harness.edits.run_action(source, span, name, report)

    return await execute_edit(client, snapshot, params, f"{name} with lsp-harness", request_edit)
