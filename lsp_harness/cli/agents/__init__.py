"""The clients of a running `lsp-harness api`."""
