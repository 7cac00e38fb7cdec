"""The tests of lsp-harness."""
