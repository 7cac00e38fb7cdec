"""What the commands that write have in common: a verb's edit, made with progress and applied."""

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.server import progress
from lsp_harness.server.commands.command_arguments import opened, place
from lsp_harness.server.commands.edit_application import apply, check_able
from lsp_harness.server.editor_client import Client
from lsp_harness.server.quick_fix import written
from lsp_harness.session.results import Report
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

Verb = Callable[[Snapshot, Span, Report], Awaitable[DocumentEdit]]


async def write(
    client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams, title: str, verb: Verb
) -> dict[str, Any]:
    """What became of it. Raises HarnessError where this client cannot apply an edit, and what the verb raises."""
    check_able(client)
    found, span = opened(snapshot), place(client, snapshot, params)
    with progress.shown(client, title, params.work_done_token) as report:
        made = await verb(found, span, report)
    return await apply(client, made.document.uri, written(client, made), title)
