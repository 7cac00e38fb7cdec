"""Traits of declarations: how they are found, documented, typed and shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommentStyle:
    """The text around the documentation of a function."""

    before: str
    """The text before the first line."""
    after: str
    """The text after the last line."""
    between: str = ""
    """The text before each further line."""
    is_inside: bool = False
    """Whether the documentation stands inside the body of the function, rather than above it."""


STAR_COMMENT = CommentStyle("/**\n * ", "\n */", " * ")
"""The comment with stars that many languages use."""


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
    documentation: CommentStyle | None = None
    """How the documentation of a function is written. None if it is not known."""
    doc_comments: tuple[str, ...] = ()
    """Prefixes of line comments that are documentation."""
    module_doc_comment: str = ""
    """The prefix of the lines that document a file."""
    any_comment_documents: bool = False
    """Whether any block comment above a declaration is its documentation."""
    has_attribute_lines: bool = False
    """Whether lines with an attribute `#[…]` may stand above a declaration or an import."""
    public_word: str = ""
    """The word that makes a declaration visible to other files. If it is empty, an underscore hides a name."""
    types_come_first: bool = False
    """Whether the type stands before the name."""
    types_follow_colon: bool = False
    """Whether the type stands after the name and a colon."""
    types_follow_name: bool = False
    """Whether the type stands right behind the name."""
    has_implicit_members: bool = False
    """Whether the functions of a type see its members without a receiver. A struct without functions does not count."""
    members_outside_types: bool = False
    """Whether the members of a type may be declared outside of the type."""
    has_headers: bool = False
    """Whether header files declare what other files define."""
    calls_need_brackets: bool = True
    """Whether every call has brackets."""
    decorator_start: str = "@"
    """A regular expression for the start of a decorator."""
    decorated_phrase: str = "decorated with"
    """The words before the name of a decorator in the description of a declaration."""
    extending_phrase: str = "extending"
    """The words before the name of a base in the description of a type."""
    test_framework: str = ""
    """The framework of the tests that the server writes; empty if it writes none."""
