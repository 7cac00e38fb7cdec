"""`lspHarness.commands`: list the commands for users, for an editor that has no list of its own.

The answer to `initialize` has the names of all commands, but not their descriptions: these need an import of all
modules of commands, for which no editor should wait at its start.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server.commands.command_registry import editor_commands
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.commands",
    arguments="[]",
    description="lists the commands that an editor offers to users",
    result="`commands`: [their descriptions](#the-answer-of-lspharnesscommands), sorted by name",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return {
        "commands": [
            {
                "name": command.name,
                "title": entry.title,
                "resultTitle": entry.result_title or entry.title,
                "handler": entry.handler,
                "sendsSelection": entry.sends_selection,
                "needsTrust": entry.needs_trust,
            }
            for command in editor_commands()
            if (entry := command.palette)
        ]
    }
