"""Traits of declarations: how they are found in a text and shown in an outline."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeclarationTraits:
    """The declarations of a language."""

    words: tuple[bytes, ...] = ()
    """Words before the name of each declaration or import. If they are given, the deep parts of a tree are searched for
    them as text, as a walk over the whole tree takes a third of the time of parsing."""
    has_line_scanner: bool = False
    """Whether the declarations of a well-formed text are read line by line without the parser."""
    has_groups: bool = False
    """Whether one statement declares several constants or imports, each on a line of its own."""
