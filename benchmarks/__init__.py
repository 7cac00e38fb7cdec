"""Measurements: `python -m benchmarks.NAME`, and the commands `lsp-harness bench` and `lsp-harness eval`."""
