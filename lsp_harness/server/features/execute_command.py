"""`workspace/executeCommand`: what each command does is a file in `execute`."""

from types import ModuleType
from typing import Any, NoReturn

from lsprotocol import types

from lsp_harness.errors import OutOfStep, UsageError
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.server.client import Client
from lsp_harness.server.execute import (
    accepted,
    applied,
    context,
    dismissed,
    docstring,
    explain,
    fix,
    instruct,
    locate,
    models,
    pause,
    pull_model,
    restart_engine,
    statistics,
    status,
    tests,
    why,
)

METHOD = types.WORKSPACE_EXECUTE_COMMAND

COMMANDS: dict[str, ModuleType] = {
    module.COMMAND: module
    for module in (
        accepted,
        dismissed,
        applied,
        fix,
        status,
        pause,
        statistics,
        models,
        pull_model,
        restart_engine,
        why,
        instruct,
        docstring,
        tests,
        explain,
        context,
        locate,
    )
}


def document(params: types.ExecuteCommandParams) -> str | None:
    """What the command works on, where that is a text."""
    named = getattr(COMMANDS.get(params.command), "document", None)
    return named(params) if named else None


def unknown(error: OutOfStep) -> NoReturn:
    """Who asked for something is told why nothing is done."""
    raise error


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    command = COMMANDS.get(params.command)
    if command is None:
        raise UsageError(f"{params.command} is not a command of lsp-harness")
    return await command.run(client, snapshot, params)
