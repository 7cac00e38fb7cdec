"""Type checkers and linters that a project configures and that read files: they run on a copy of it, in a sandbox."""
