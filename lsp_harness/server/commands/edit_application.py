"""An edit the server asks its client to apply: the answer to a command, where the client did not ask for an edit itself."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import HarnessError
from lsp_harness.server.editor_client import Client
from lsp_harness.server.quick_fix import Fixed


def check_able(client: Client) -> None:
    """Before anything is computed. Raises HarnessError where the client cannot do it."""
    if not client.able.apply_edit:
        raise HarnessError("this editor does not apply edits that a server requests (workspace/applyEdit)")


async def apply(client: Client, uri: str, fixed: Fixed, label: str) -> dict[str, Any]:
    """What became of it, for whoever executed the command."""
    params = types.ApplyWorkspaceEditParams(edit=fixed.edit, label=label)
    outcome = await client.server.workspace_apply_edit_async(params)
    if outcome.applied:
        client.harness.record(uri, fixed.id, "applied")
    return {
        "applied": outcome.applied,
        "summary": fixed.summary,
        "failureReason": outcome.failure_reason,
        "verdict": fixed.verdict,
    }
