"""One folder and its index, as a command uses them that has no language server."""
