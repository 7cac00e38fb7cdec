"""`codeAction/resolve`: compute and check the edit of a chosen fix, with progress that can be cancelled."""

from typing import NoReturn

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution import quick_fix
from lsp_harness.server.execution.quick_fix import compute_fix, offer_uri
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.CODE_ACTION_RESOLVE


def document_uri(params: types.CodeAction) -> str | None:
    """Return the document of the offer, or None for an action that is only a command: some clients resolve it too."""
    return None if params.data is None and params.command else offer_uri(params.data)


def answer_out_of_sync(error: DocumentOutOfSync) -> NoReturn:
    """Answer with the error, because the user chose an action and must learn why nothing happens."""
    raise error


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.CodeAction) -> types.CodeAction:
    if snapshot is None:
        return params
    with show_progress(client, params.title) as report:
        fix = await compute_fix(client, snapshot, params.data, report)
    params.edit = fix.edit
    params.command = quick_fix.applied_action_command(client, snapshot.document, fix) or params.command
    return params
