"""Generator of the commands in the Neovim plugin: a Lua module with them and the subcommands of `:LspHarness`."""

from collections.abc import Sequence

from lsp_harness.server.execution.editor_command import EditorCommand

MODULE_HEAD = """--- The commands of the server. Generated from lsp_harness/server/commands by `make docs`; do not edit.

---@class lsp_harness.ForwardedCommand a subcommand that needs no code of its own
---@field command string the name in the protocol
---@field handler 'text'|'edit' how the result is shown
---@field title string names the command in messages
---@field sends_selection boolean whether the argument is a place in the text

local M = {}

--- The names in the protocol.
M.names = {
"""
FORWARDED_HEAD = """}

--- The subcommands of `:LspHarness` that only send a command and show its result.
---@type table<string, lsp_harness.ForwardedCommand>
M.forwarded = {
"""
MODULE_TAIL = """}

return M
"""


def render(text: str, commands: Sequence[EditorCommand]) -> str:
    """Return the Lua module. Its present text is not used."""
    names = [f"  {command.short_name} = {_quoted(command.name)},\n" for command in commands]
    forwarded = [
        f"  {command.short_name} = {{\n"
        f"    command = {_quoted(command.name)},\n"
        f"    handler = {_quoted(entry.handler)},\n"
        f"    title = {_quoted(entry.result_title or entry.title)},\n"
        f"    sends_selection = {str(entry.sends_selection).lower()},\n"
        "  },\n"
        for command in commands
        if (entry := command.palette) and entry.handler != "custom"
    ]
    return "".join([MODULE_HEAD, *names, FORWARDED_HEAD, *forwarded, MODULE_TAIL])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
