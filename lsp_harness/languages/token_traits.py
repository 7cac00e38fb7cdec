"""Traits of the tokens of a language: strings, comments, keywords, and the words that begin and end blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Interpolation:
    """How a string contains expressions."""

    opener: str
    """A regular expression for the text that begins an expression inside a string."""
    prefix: str = ""
    """A regular expression for the text before a string that may contain expressions; empty if every string may."""
    doubles_braces: bool = False
    """Whether two braces stand for a brace of the string."""


@dataclass(frozen=True, slots=True)
class TokenTraits:
    """The tokens of a language. The defaults fit a language with braces and C-like strings."""

    has_block_comments: bool = False
    """Whether `/*` and `*/` enclose a comment."""
    has_character_literals: bool = False
    """Whether an apostrophe encloses one character or marks a lifetime, so that an unclosed one opens no string."""
    has_triple_quotes: bool = False
    """Whether three quotes enclose a string of several lines."""
    has_backquoted_strings: bool = False
    """Whether backquotes enclose a string."""
    interpolation: Interpolation | None = None
    """How strings contain expressions. None stands for `${` in backquoted strings only."""
    interpolation_mark: str = ""
    """The letter before the quotes, or the quotes, that make a plain string contain expressions."""
    has_jsx: bool = False
    """Whether an expression may be an element of JSX."""
    operand: str = "x"
    """The shortest expression, which completes an unfinished one."""
    named_keywords: frozenset[bytes] = frozenset()
    """Keywords that the grammar defines as named nodes."""
    block_begin_words: frozenset[bytes] = frozenset()
    """Words that begin a block which an end word closes."""
    block_end_words: frozenset[bytes] = frozenset()
    """Words that end a block."""
    block_closers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Words that open a block, and the text that closes it. Of a loop with `do` only the `do` counts."""
    has_optional_loop_do: bool = False
    """Whether the `do` of a loop may be left out, so that `while x do` opens one block and not two."""
    opens_blocks_in_expressions: bool = False
    """Whether a word of `block_closers` always opens a block. Otherwise `x if y` opens none."""
    header_ends: tuple[str, ...] = ("", "\nend")
    """The text that completes the header of a condition, then those that complete the header of a loop."""
    has_bare_for_header: bool = False
    """Whether the clauses of a `for` statement stand without round brackets."""
