"""`workspace/executeCommand`: the four commands of `commands`, in one table."""

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server import commands, fixing, progress
from lsp_harness.server.client import Client
from lsp_harness.server.features.initialize import VERSION

METHOD = types.WORKSPACE_EXECUTE_COMMAND


def document(params: types.ExecuteCommandParams) -> str | None:
    """Only a fix works on a text."""
    return fixing.uri_of(_first(params)) if params.command == commands.FIX else None


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    if params.command == commands.FIX and snapshot is not None:
        return await _fix(client, snapshot, params)
    command = _TABLE.get(params.command)
    if command is None:
        raise UsageError(f"{params.command} is not a command of lsp-harness")
    return await command(client, params)


async def _fix(client: Client, snapshot: Snapshot, params: types.ExecuteCommandParams) -> dict[str, Any]:
    if not client.able.apply_edit:
        raise HarnessError("this editor cannot apply an edit on a server's request")
    data = _first(params)
    title = str(data.get("title", "Fix"))
    with progress.shown(client, title, params.work_done_token) as report:
        fixed = await fixing.fix(client, snapshot, data, report)
    edit = types.ApplyWorkspaceEditParams(edit=fixed.edit, label=title)
    outcome = await client.server.workspace_apply_edit_async(edit)
    if outcome.applied:
        client.harness.applied(snapshot.document.uri, fixed.id)
    return {"applied": outcome.applied, "summary": fixed.summary, "failureReason": outcome.failure_reason}


async def _accepted(client: Client, params: types.ExecuteCommandParams) -> None:
    client.harness.accepted(*_two_names(params))


async def _applied(client: Client, params: types.ExecuteCommandParams) -> None:
    client.harness.applied(*_two_names(params))


async def _status(client: Client, params: types.ExecuteCommandParams) -> dict[str, Any]:
    harness = client.harness
    return {
        "version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
        "positionEncoding": client.able.encoding,
        "model": harness.config.model.path,
        "roots": [str(root) for root in harness.roots],
        "documents": [
            {"uri": each.uri, "version": each.version, "bytes": len(each.data)} for each in harness.documents
        ],
        # without this one
        "running": len(client.server.lsp.running) - 1,
        **await harness.status(),
    }


_TABLE: dict[str, Callable[[Client, types.ExecuteCommandParams], Awaitable[Any]]] = {
    commands.ACCEPTED: _accepted,
    commands.APPLIED: _applied,
    commands.STATUS: _status,
}


def _first(params: types.ExecuteCommandParams) -> Any:
    return params.arguments[0] if params.arguments else None


def _two_names(params: types.ExecuteCommandParams) -> tuple[str, str]:
    match params.arguments or ():
        case [str() as uri, str() as id]:
            return uri, id
        case _:
            raise UsageError(f"{params.command} takes a document URI and an id")
