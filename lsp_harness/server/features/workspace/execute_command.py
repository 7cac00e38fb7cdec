"""`workspace/executeCommand`: execute a command. Each command is a module of `commands`."""

from typing import Any, NoReturn

from lsprotocol import types

from lsp_harness.errors import DocumentOutOfSync, UsageError
from lsp_harness.server.commands.command_registry import find_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.workspace.snapshot import Snapshot

METHOD = types.WORKSPACE_EXECUTE_COMMAND


def document_uri(params: types.ExecuteCommandParams) -> str | None:
    """Return the URI of the document that the command works on, or None."""
    module = find_command(params.command)
    return module.COMMAND.document(params) if module else None


def answer_out_of_sync(error: DocumentOutOfSync) -> NoReturn:
    """Answer with the error, because the user asked for something and must learn why nothing happens."""
    raise error


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    module = find_command(params.command)
    if module is None:
        raise UsageError(f"{params.command} is not a command of lsp-harness")
    return await module.run(client, snapshot, params)
