"""The commands that repair: one problem, all problems of a kind in a document, and failing tests."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.client_edits import (
    EDIT_RESULT,
    apply_edit,
    check_apply_edit,
    compute_fix,
    offer_uri,
    prepare_edit,
    unpack_findings,
)
from lsp_harness.server.commands.command_arguments import document_uri, first_argument, required_snapshot, tool_output
from lsp_harness.server.commands.command_registry import PaletteEntry, command
from lsp_harness.server.commands.edits import execute_edit
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot


def _offer_uri(params: types.ExecuteCommandParams) -> str:
    return offer_uri(first_argument(params))


@command(
    "lspHarness.fix",
    arguments="[data]` or `[{uri, range, failing}]",
    description=(
        "computes a fix and applies it, for clients without `codeAction/resolve`. `data` is that of a code action. "
        "`failing` is the output of tests, a linter or a compiler ([digest](digest.md)): the server fixes what it "
        "reports about the first line of `range`, else a failing test of the function there. "
        "`failing` may also be a key of `data`"
    ),
    result=EDIT_RESULT,
    document=_offer_uri,
)
async def fix(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Compute a fix and apply it.

    The command is for clients that cannot resolve the edit of a code action, and for problems in the output of a tool.
    """
    if snapshot is None:
        raise UsageError("this code action names no document")
    data, failing = first_argument(params), tool_output(params)
    if failing and "range" in data:

        def request_edit(source: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
            return client.harness.fixes.fix_reported(source, span, failing, report)

        return await execute_edit(client, snapshot, params, "Fix with lsp-harness", request_edit)
    check_apply_edit(client)
    title = str(data.get("title", "Fix"))
    with show_progress(client, title, params.work_done_token) as report:
        edit = await compute_fix(client, snapshot, data, report, failing)
    return await apply_edit(client, snapshot.document.uri, edit, title)


@command(
    "lspHarness.fixAll",
    arguments="[data]",
    description=(
        "fixes all diagnostics of a kind in a document, one after another, and applies one edit. `data` is that of a "
        "code action. `summary` says which ones are left, and why"
    ),
    result=EDIT_RESULT,
    document=_offer_uri,
)
async def fix_all(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
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


@command(
    "lspHarness.repairTests",
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
async def repair_tests(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    async def repair(source: Snapshot, span: Span, report: Report) -> DocumentEdit:
        selected = span if source.document.data[slice(*span)].strip() else None
        return await client.harness.fixes.repair_tests(source, report, span=selected)

    return await execute_edit(client, snapshot, params, "Repair failing tests", repair)
