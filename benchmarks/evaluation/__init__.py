"""Measures the harness on tasks with hidden checks: `lsp-harness eval`."""
