"""A workspace folder and its index, for commands that run without a language server."""
