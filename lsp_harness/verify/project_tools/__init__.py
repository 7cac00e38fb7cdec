"""Type checkers, linters and formatters that a project configures, which run in a sandbox."""
