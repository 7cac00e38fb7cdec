"""Generators of the commands in the VS Code extension: a TypeScript module, and the palette in `package.json`."""

import json
from collections.abc import Sequence
from typing import Any, cast

from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry

PREFIX = "lsp-harness."
"""The commands of the extension. The names `lspHarness.…` belong to the commands of the server."""
MODULE_HEAD = """\
/** The commands of the server. Generated from lsp_harness/server/commands by `make docs`; do not edit. */

import type { ForwardedCommand } from "./protocol";

/** The names in the protocol. The capabilities of the server list the ones that it has. */
"""
FORWARDED_HEAD = """
/** The commands of the palette that need no code of their own, by the end of their names. */
"""


def render_module(text: str, commands: Sequence[EditorCommand]) -> str:
    """Return the TypeScript module. Its present text is not used."""
    names = {command.short_name: command.name for command in commands}
    forwarded = {
        command.short_name: {
            "command": command.name,
            "handler": entry.handler,
            "resultTitle": entry.result_title or entry.title,
            "sendsSelection": entry.sends_selection,
        }
        for command in commands
        if (entry := command.palette) and entry.handler != "custom"
    }
    return (
        f"{MODULE_HEAD}export const Command = {_literal(names)} as const;\n"
        "export type CommandName = keyof typeof Command;\n"
        f"{FORWARDED_HEAD}export const FORWARDED_COMMANDS: Record<string, ForwardedCommand> = {_literal(forwarded)};\n"
    )


def render_manifest(text: str, commands: Sequence[EditorCommand]) -> str:
    """Return `package.json` with the palette entries of these commands after those of the extension itself."""
    manifest: dict[str, Any] = json.loads(text)
    contributes = manifest["contributes"]
    own_entries = [entry for entry in contributes["commands"] if not _is_generated(entry)]
    entries = [_palette_command(command, command.palette) for command in commands if command.palette]
    contributes["commands"] = own_entries + entries
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


def _is_generated(entry: dict[str, str]) -> bool:
    """Return whether a palette entry is enabled only if the server has the command of this name."""
    return _capability_key(entry["command"].removeprefix(PREFIX)) in entry.get("enablement", "").split(" && ")


def _capability_key(short_name: str) -> str:
    """Return the context key that says whether the running server has a command."""
    return f"{PREFIX}can.{short_name}"


def _literal(value: dict[str, Any]) -> str:
    """Return a TypeScript literal. Its keys are identifiers, so they need no quotes."""
    lines = [f"  {name}: {_inline(item)}," for name, item in value.items()]
    return "\n".join(["{", *lines, "}"])


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return "{ " + ", ".join(f"{name}: {_inline(item)}" for name, item in fields.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
