"""The files and folders by which a folder looks like a project."""

from pathlib import Path

PROJECT_MARKS = (
    ".git",
    "lsp-harness.toml",
    "localcode.toml",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
)


def is_project(folder: Path) -> bool:
    """Return whether a folder looks like a project."""
    return any((folder / mark).exists() for mark in PROJECT_MARKS)
