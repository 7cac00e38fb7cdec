"""The commands of `lsp-harness`: one file a command."""
