"""`workspace/executeCommand`: what each command does is a file in `execute`."""

from types import ModuleType
from typing import Any, NoReturn

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync, UsageError
from lsp_harness.server.commands import (
    accepted_command,
    applied_command,
    context_command,
    dismissed_command,
    docstring_command,
    explain_command,
    fix_command,
    instruct_command,
    locate_command,
    models_command,
    pause_command,
    pull_model_command,
    restart_engine_command,
    statistics_command,
    status_command,
    tests_command,
    why_command,
)
from lsp_harness.server.editor_client import Client
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_EXECUTE_COMMAND

COMMANDS: dict[str, ModuleType] = {
    module.COMMAND: module
    for module in (
        accepted_command,
        dismissed_command,
        applied_command,
        fix_command,
        status_command,
        pause_command,
        statistics_command,
        models_command,
        pull_model_command,
        restart_engine_command,
        why_command,
        instruct_command,
        docstring_command,
        tests_command,
        explain_command,
        context_command,
        locate_command,
    )
}


def document(params: types.ExecuteCommandParams) -> str | None:
    """What the command works on, where that is a text."""
    named = getattr(COMMANDS.get(params.command), "document", None)
    return named(params) if named else None


def unknown(error: DocumentOutOfSync) -> NoReturn:
    """Who asked for something is told why nothing is done."""
    raise error


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    command = COMMANDS.get(params.command)
    if command is None:
        raise UsageError(f"{params.command} is not a command of lsp-harness")
    return await command.run(client, snapshot, params)
