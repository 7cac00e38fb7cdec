"""Type checkers and linters that read the files of a project."""
