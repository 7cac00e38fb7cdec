"""`lspHarness.instruct`: edit some lines by an instruction.

If the client does not name the lines, the server finds them and returns where they are.
"""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.commands.locate_command import location_result
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import (
    document_uri,
    folder_uri,
    has_range,
    text_argument,
    tool_output,
)
from lsp_harness.server.execution.edit_application import EDIT_RESULT, apply_edit, check_apply_edit, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.execution.quick_fix import prepare_written_edit
from lsp_harness.server.progress import show_progress
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

TITLE = "Edit with lsp-harness"


def _document_uri(params: types.ExecuteCommandParams) -> str | None:
    return document_uri(params) if has_range(params) else None


COMMAND = EditorCommand(
    name="lspHarness.instruct",
    arguments="[{uri, range, instruction, failing?}]",
    description=(
        "edits these lines by an instruction; `failing` is the output of a tool about them. "
        "Without `range` (`uri` is optional as well), the server finds the code as `lspHarness.locate` does"
    ),
    result=f"{EDIT_RESULT}. Without `range` also `located`, the answer of the search",
    document=_document_uri,
    palette=PaletteEntry(title="Edit by Instruction…", handler="custom", needs_trust=True),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if not has_range(params):
        return await _edit_located_code(client, params)

    def request_edit(source: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
        return client.harness.edits.instruct(source, span, text_argument(params), report, tool_output(params))

    return await execute_edit(client, snapshot, params, TITLE, request_edit)


async def _edit_located_code(client: EditorClient, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Find the code that the instruction is about, edit it, and add the answer of the search to the result."""
    # imported late, because it imports the parser
    from lsp_harness.coding.location.task_location import LocationRequest

    check_apply_edit(client)
    request, failing = LocationRequest(text_argument(params), folder_uri(params)), tool_output(params)
    with show_progress(client, TITLE, params.work_done_token) as report:
        written, located = await client.harness.tasks.instruct(request, report, failing)
    outcome = await apply_edit(client, written.document.uri, await prepare_written_edit(client, written), TITLE)
    return {**outcome, "located": location_result(client, located)}
