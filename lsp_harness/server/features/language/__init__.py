"""Requests about code: completions, code actions, diagnostics, symbols and locations."""
