"""Edits that the server asks its client to apply, because the client executed a command and did not request an edit."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.errors import HarnessError
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import required_snapshot, selected_span
from lsp_harness.server.execution.quick_fix import PreparedEdit, prepare_written_edit
from lsp_harness.server.lsp_conversion import workspace_edit
from lsp_harness.server.progress import show_progress
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

EditRequest = Callable[[Snapshot, Span, Report], Awaitable[DocumentEdit]]

EDIT_RESULT = (
    "`applied`, `summary`, `failureReason` and `verdict` (the URI of its [verdict](#verdicts)). "
    "The edit itself arrives by `workspace/applyEdit`"
)
"""The documentation of the result of `apply_edit`."""


TOOL_EDIT_TITLE = "lsp-harness: edit of"


def check_apply_edit(client: EditorClient) -> None:
    """Check that the client can apply an edit, before an edit is computed.

    Raises:
        HarnessError: The client cannot apply edits.
    """
    if not client.capabilities.apply_edit:
        raise HarnessError("this editor does not apply edits that a server requests (workspace/applyEdit)")


async def apply_edit(client: EditorClient, uri: str, edit: PreparedEdit, label: str) -> dict[str, Any]:
    """Send an edit to the client and return the outcome, which is the result of the command.

    Args:
        client: The client that applies the edit.
        uri: The document of the edit.
        edit: The edit.
        label: The name of the edit, for example in the undo menu of the client.
    """
    params = types.ApplyWorkspaceEditParams(edit=edit.edit, label=label)
    outcome = await client.server.workspace_apply_edit_async(params)
    if outcome.applied:
        client.harness.record(uri, edit.id, "applied")
    return {
        "applied": outcome.applied,
        "summary": edit.summary,
        "failureReason": outcome.failure_reason,
        "verdict": edit.verdict,
    }


async def change_open_text(client: EditorClient, document: Document, edits: Sequence[Edit]) -> str:
    """Let the client change an open text for a tool of a session, and return why it did not."""
    edit = workspace_edit([(document, edits, client.version_of(document))], client.capabilities)
    params = types.ApplyWorkspaceEditParams(edit=edit, label=f"{TOOL_EDIT_TITLE} {PurePosixPath(document.uri).name}")
    try:
        outcome = await client.server.workspace_apply_edit_async(params)
    except JsonRpcException as error:
        return str(error)
    return "" if outcome.applied else outcome.failure_reason or "it gave no reason"


async def execute_edit(
    client: EditorClient,
    snapshot: Snapshot | None,
    params: types.ExecuteCommandParams,
    title: str,
    request_edit: EditRequest,
) -> dict[str, Any]:
    """Compute an edit of the selected lines with progress, and apply it.

    Raises:
        HarnessError: The client cannot apply edits, or no edit was found.
    """
    check_apply_edit(client)
    source, span = required_snapshot(snapshot), selected_span(client, snapshot, params)
    with show_progress(client, title, params.work_done_token) as report:
        written = await request_edit(source, span, report)
    return await apply_edit(client, written.document.uri, await prepare_written_edit(client, written), title)
