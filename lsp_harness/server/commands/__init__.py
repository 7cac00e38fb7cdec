"""The commands of `workspace/executeCommand`, one module for each subject.

To add a command, decorate a function in the module of its subject:

    @command("lspHarness.greet", arguments="[name]", description="greets a user", result="`text`: the greeting")
    async def greet(client, snapshot, params): ...

`snapshot` is the document that the argument `document` of the decorator names, frozen when the message arrives, or
None. `command_registry` finds the command by its decorator; `EditorCommand` there says what can be described. `make
docs` then writes the command into docs/lsp-extensions.md and editors/vscode/package.json, where the extension reads it.
The plugin for Neovim asks the server (`lspHarness.commands`). A command with the handler `text` or `edit` needs no
other change in the editors.
"""
