"""The commands of `workspace/executeCommand`, one module each.

To add a command, add a module `<name>_command` with two names:

- `COMMAND`, an `EditorCommand`, describes the command. `<name>` in camel case is the end of `COMMAND.name`.
- `async def run(client, snapshot, params)` executes it and returns the result. `snapshot` is the document that
  `COMMAND.document` names, frozen when the message arrives, or None.

`command_registry` finds the module by its name. `make docs` then writes the command into docs/lsp-extensions.md and
editors/vscode/package.json, where the extension reads it. The plugin for Neovim asks the server
(`lspHarness.commands`). A command with the handler `text` or `edit` needs no other change in the editors.
"""
