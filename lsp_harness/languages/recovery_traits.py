"""Traits for the search for syntax errors and for the edits of one token that repair them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecoveryTraits:
    """Properties of a language that guide the recovery of a broken text: likely errors and possible corrections."""

    signs_between: tuple[bytes, ...] = (b",", b":", b"=", b"=>", b".")
    """The signs and words that are tried between two operands."""
    joins_after_marks: bool = True
    """Whether `=`, `:` and `=>` are tried between an operator and an operand."""
    meant_by_equals: tuple[bytes, ...] = ()
    """Signs for which `=` is often written."""
    else_if: bytes = b""
    """The words that begin another condition of a conditional statement; empty if nothing is tried."""
    inserts_semicolons: bool = False
    """Whether a semicolon is tried at the end of a statement."""
    needs_semicolons: bool = False
    """Whether an inserted semicolon must end a statement."""
    has_block_parameters: bool = False
    """Whether parameters of a block stand between two `|` behind `do`."""
    words_behind_semicolon: tuple[bytes, ...] = ()
    """Words that a semicolon separates from the condition before them."""
    has_type_arguments: bool = False
    """Whether types have arguments in angle brackets."""
    inserts_braces: bool = True
    """Whether a missing brace before a block is tried."""
    has_own_line_braces: bool = False
    """Whether the brace before a block is often on its own line."""
    quotes: str = "\"'"
    """The quotes that enclose a string."""
    long_quotes: tuple[bytes, ...] = ()
    """The quotes that enclose a string with several lines."""
    has_multiline_strings: bool = False
    """Whether a plain string may continue on the next line."""
    comment_pattern: str = r"//|/\*"
    """A regular expression for the beginning of a comment."""
    has_lifetimes: bool = False
    """Whether an apostrophe before a word marks a lifetime."""
    wrappers: tuple[tuple[bytes, bytes], ...] = ((b"", b""),)
    """Texts before and after a block. A block is sound if it parses inside one of these pairs."""
    allows_outer_statements: bool = True
    """Whether statements may stand outside of functions."""
    requires_declarations: bool = False
    """Whether a name must be declared before an assignment."""
    has_bare_tuples: bool = False
    """Whether two values with a comma between them are a value without brackets."""
    checks_assignment_places: bool = True
    """Whether the place of an inserted `=` may be wrong although the text parses."""
    blocks_are_values: bool = False
    """Whether the last expression of a block is its value."""
    has_statements_in_headers: bool = False
    """Whether a header such as `if` may contain a statement before a semicolon."""
    arrow_matches_patterns: bool = False
    """Whether `=>` compares a value with a pattern."""
    arrow_reads_members: bool = False
    """Whether `->` reads a member and `=>` stands only in lists."""
    incomplete_call: bytes = b""
    """A regular expression for calls that need an argument, so that their brackets are probably misplaced."""
