"""`lspHarness.fix`: a fix computed and applied in one go, for clients that cannot resolve a code action's edit, or of what a tool
has printed of a line."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.server import command_names, progress, quick_fix
from lsp_harness.server.commands.command_arguments import failing, first
from lsp_harness.server.commands.edit_application import apply, check_able
from lsp_harness.server.commands.edit_command import write
from lsp_harness.server.editor_client import Client
from lsp_harness.session.results import Report
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.FIX


def document(params: types.ExecuteCommandParams) -> str:
    return quick_fix.uri_of(first(params))


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if snapshot is None:
        raise UsageError("this code action names no document")
    data, said = first(params), failing(params)
    if said and "range" in data:

        def fix_reported(found: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
            return client.harness.fixes.fix_reported(found, span, said, report)

        return await write(client, snapshot, params, "Fix with lsp-harness", fix_reported)
    check_able(client)
    title = str(data.get("title", "Fix"))
    with progress.shown(client, title, params.work_done_token) as report:
        fixed = await quick_fix.fix(client, snapshot, data, report, said)
    return await apply(client, snapshot.document.uri, fixed, title)
