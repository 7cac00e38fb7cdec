"""`lspHarness.fixAll`: fix all diagnostics of one kind in a document, as one edit."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import first_argument, required_snapshot
from lsp_harness.server.execution.edit_application import EDIT_RESULT, apply_edit, check_apply_edit
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.execution.quick_fix import offer_uri, prepare_edit, unpack_findings
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot


def _document_uri(params: types.ExecuteCommandParams) -> str:
    return offer_uri(first_argument(params))


COMMAND = EditorCommand(
    name="lspHarness.fixAll",
    arguments="[data]",
    description=(
        "fixes all diagnostics of a kind in a document, one after another, and applies one edit. `data` is that of a "
        "code action. `summary` says which ones are left, and why"
    ),
    result=EDIT_RESULT,
    document=_document_uri,
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    check_apply_edit(client)
    source, data = required_snapshot(snapshot), first_argument(params)
    findings = unpack_findings(source, data)
    if not findings:
        raise UsageError(f"{params.command} takes the findings that a code action lists")
    title = str(data.get("title", "Fix all"))
    with show_progress(client, title, params.work_done_token) as report:
        proposal = await client.harness.fixes.fix_all(source, findings, report)
    if "; left: " in proposal.summary:
        client.warn(f"{source.path}: {proposal.summary}")
    return await apply_edit(client, source.document.uri, await prepare_edit(client, source.document, proposal), title)
