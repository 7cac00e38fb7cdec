"""`lspHarness.fix`: compute a fix and apply it.

It is for clients that cannot resolve the edit of a code action, and for problems in the output of a tool.
"""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.kernel.results import Report
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import first_argument, tool_output
from lsp_harness.server.execution.edit_application import EDIT_RESULT, apply_edit, check_apply_edit, execute_edit
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.server.execution.quick_fix import compute_fix, offer_uri
from lsp_harness.server.progress import show_progress
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot


def _document_uri(params: types.ExecuteCommandParams) -> str:
    return offer_uri(first_argument(params))


COMMAND = EditorCommand(
    name="lspHarness.fix",
    arguments="[data]` or `[{uri, range, failing}]",
    description=(
        "computes a fix and applies it, for clients without `codeAction/resolve`. `data` is that of a code action. "
        "`failing` is the output of tests, a linter or a compiler ([digest](digest.md)): the server fixes what it "
        "reports about the first line of `range`, else a failing test of the function there. "
        "`failing` may also be a key of `data`"
    ),
    result=EDIT_RESULT,
    document=_document_uri,
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
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
