"""The SDK against small programs that stand for `lsp-harness session`."""
