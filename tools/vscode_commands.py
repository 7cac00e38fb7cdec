"""Generator of the commands in `package.json` of the VS Code extension.

It writes the palette, and in a key of its own the commands that need no code in the extension, which reads them at its
start.
"""

import json
from collections.abc import Sequence
from typing import Any

from lsp_harness.server.commands.command_registry import EditorCommand, PaletteEntry

PREFIX = "lsp-harness."
"""The commands of the extension. The names `lspHarness.…` belong to the commands of the server."""
KEY = "lspHarness"
"""The key of `package.json` with what only the extension itself reads. VS Code and its packager ignore unknown keys."""


def render(text: str, commands: Sequence[EditorCommand]) -> str:
    """Return the `package.json` of the VS Code extension with the commands of the server.

    Their palette entries come after those of the extension itself.
    """
    manifest: dict[str, Any] = json.loads(text)
    contributes = manifest["contributes"]
    own_entries = [entry for entry in contributes["commands"] if not _is_generated(entry)]
    entries = [_palette_command(command, command.palette) for command in commands if command.palette]
    contributes["commands"] = own_entries + entries
    manifest[KEY] = {
        "forwardedCommands": {
            command.short_name: _forwarded_command(command, command.palette)
            for command in commands
            if command.palette and command.palette.handler != "custom"
        }
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _palette_command(command: EditorCommand, entry: PaletteEntry) -> dict[str, str]:
    conditions = ["lsp-harness.running", _capability_key(command.short_name)]
    if entry.needs_trust:
        conditions.append("isWorkspaceTrusted")
    return {
        "command": PREFIX + command.short_name,
        "title": entry.title,
        "category": "lsp-harness",
        "enablement": " && ".join(conditions),
    }


def _forwarded_command(command: EditorCommand, entry: PaletteEntry) -> dict[str, str | bool]:
    return {
        "command": command.name,
        "handler": entry.handler,
        "resultTitle": entry.result_title or entry.title,
        "sendsSelection": entry.sends_selection,
    }


def _is_generated(entry: dict[str, str]) -> bool:
    """Return whether a palette entry is enabled only if the server has the command of this name."""
    return _capability_key(entry["command"].removeprefix(PREFIX)) in entry.get("enablement", "").split(" && ")


def _capability_key(short_name: str) -> str:
    """Return the context key that says whether the running server has a command."""
    return f"{PREFIX}can.{short_name}"
