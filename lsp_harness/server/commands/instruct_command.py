"""`lspHarness.instruct`: an instruction in words about some lines becomes a verified edit of them. Whoever does not say which lines
is told which they are."""

from collections.abc import Awaitable
from typing import Any

from lsprotocol import types

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.server import command_names, progress
from lsp_harness.server.commands.command_arguments import about, failing, nearby, placed, words
from lsp_harness.server.commands.edit_application import apply, check_able
from lsp_harness.server.commands.edit_command import write
from lsp_harness.server.commands.locate_command import told
from lsp_harness.server.editor_client import Client
from lsp_harness.server.quick_fix import written
from lsp_harness.session.results import Report
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.INSTRUCT
TITLE = "Edit with lsp-harness"


def document(params: types.ExecuteCommandParams) -> str | None:
    return about(params) if placed(params) else None


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if not placed(params):
        return await _located(client, params)

    def instruct(found: Snapshot, span: Span, report: Report) -> Awaitable[DocumentEdit]:
        return client.harness.edits.instruct(found, span, words(params), report, failing(params))

    return await write(client, snapshot, params, TITLE, instruct)


async def _located(client: Client, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """What became of it, and what it was taken to be about, among what else."""
    from lsp_harness.harness.task_locator import LocationRequest

    check_able(client)
    request, said = LocationRequest(words(params), nearby(params)), failing(params)
    with progress.shown(client, TITLE, params.work_done_token) as report:
        made, found = await client.harness.tasks.instruct(request, report, said)
    return {**await apply(client, made.document.uri, written(client, made), TITLE), "located": told(client, found)}
