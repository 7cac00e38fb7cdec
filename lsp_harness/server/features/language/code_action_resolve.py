"""`codeAction/resolve`: computes and verifies the edit of a chosen fix, behind a progress bar that can be cancelled."""

from typing import NoReturn

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server import command_names, progress, quick_fix
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.CODE_ACTION_RESOLVE


def document(params: types.CodeAction) -> str | None:
    """None for an action that is a command only: some clients ask for an edit all the same."""
    return None if params.data is None and params.command else quick_fix.uri_of(params.data)


def unknown(error: DocumentOutOfSync) -> NoReturn:
    """Who chose an action is told why nothing is done."""
    raise error


async def run(client: Client, snapshot: Snapshot | None, params: types.CodeAction) -> types.CodeAction:
    if snapshot is None:
        return params
    with progress.shown(client, params.title) as report:
        fixed = await quick_fix.fix(client, snapshot, params.data, report)
    params.edit = fixed.edit
    if client.able.resolve_command:
        # executed by the client once the edit is in the document
        arguments = [snapshot.document.uri, fixed.id]
        params.command = types.Command("Applied", command_names.APPLIED, arguments=arguments)
    return params
