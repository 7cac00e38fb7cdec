"""Requests about code: completions, code actions, symbols and places."""
