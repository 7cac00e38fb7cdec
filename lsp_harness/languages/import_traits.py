"""Traits of import statements: how they are written, and which names they make visible."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportTraits:
    """The import statements of a language."""

    wildcard: bytes = b""
    """The text of an import that makes all names of a module visible; empty if none is searched for."""
    has_import_blocks: bool = False
    """Whether one statement imports several packages, each on a line of its own."""
    packages_name_themselves: bool = False
    """Whether an import without an alias binds the last part of the path of a package."""
    has_require_calls: bool = False
    """Whether a call of `require` imports a file."""
    keys_include_names: bool = False
    """Whether imports are sorted by the imported name, not only by its module."""
    has_attributes: bool = False
    """Whether an attribute `#[…]` may stand above an import statement."""
    blank_lines_below: int = 1
    """How many blank lines separate the import statements from a definition below them."""
    follows_docstring: bool = False
    """Whether import statements stand below the docstring of the file."""
