"""Properties of a single line of code: its indentation, and whether it opens or closes a block."""

import re
from dataclasses import dataclass
from typing import Literal

TAB_COLUMNS = 4
"""Columns of a tab when indentations are compared. Both sides of a comparison use it."""
INDENTATION = re.compile(r"[ \t]*")
LONE_CLOSER = re.compile(
    r"\s*(?:[)\]}]+[)\]};,]*|end\b[\s;,)]*|fi|done|esac|</[\w.:-]*>[;,)]*|/?>|\*/|\"\"\"|''')\s*",
)
HASH_COMMENT = re.compile(r"(?:^|\s)#.*$")
SLASH_COMMENT = re.compile(r"(?:^|\s)(?://.*|/\*(?:(?!/\*).)*\*/\s*)$")
WORD_OPENER = re.compile(
    r"(?:\b(?:do|then|else|begin|repeat)|\bdo\s*\|[^|]*\||^\s*(?:def|class|module|if|unless|while|case|when)\b.*"
    r"|\bfunction\b[^()]*\([^()]*\))$"
)
OPEN_TAG = re.compile(r"<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?(?<!/)>\s*$")
VOID_TAGS = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "source", "track", "wbr"})
CONTINUES_STATEMENT = re.compile(
    r"\s*(?:[})\]]+\s*)?(?:else|elif|elsif|except|finally|catch|rescue|ensure|when|case|default|while)\b"
    r"|\s*[})\]]+\s*\S"
)


def to_lf(text: str) -> str:
    """Replace each of the three line ends of the protocol with `\\n`. `str.splitlines` also splits at form feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_blank(line: str) -> bool:
    return not line or line.isspace()


def indentation_of(line: str) -> str:
    """Return the blanks and tabs at the beginning of a line."""
    match = INDENTATION.match(line)
    return match.group() if match else ""


def byte_indentation_of(line: bytes) -> bytes:
    """Return the blanks and tabs at the beginning of a line of bytes."""
    return line[: len(line) - len(line.lstrip(b" \t"))]


def indentation_columns(indentation: str) -> int:
    return len(indentation.expandtabs(TAB_COLUMNS))


def line_depth(line: str) -> int:
    """Return the columns of the indentation of a line."""
    return indentation_columns(indentation_of(line))


def is_lone_closer(line: str) -> bool:
    """Return whether a line has only the end of a block on it."""
    return LONE_CLOSER.fullmatch(line) is not None


@dataclass(frozen=True, slots=True)
class LineSyntax:
    """The syntax of single lines in a language. The defaults fit a language with braces."""

    comment_style: Literal["slash", "hash"] = "slash"
    """Whether a line comment begins with `//` or with `#`."""
    has_block_words: bool = False
    """Whether a word opens a block."""
    has_tags: bool = False
    """Whether a tag opens a block."""
    has_lifetimes: bool = False
    """Whether an apostrophe may stand alone."""
    is_prose: bool = False
    """Whether the text is prose, in which quotes and colons open nothing."""
    is_style_sheet: bool = False
    """Whether a statement may start with `.` or `:`."""
    indent_width: int = 4
    """The usual number of blanks of one level of indentation."""
    indents_with_tabs: bool = False
    """Whether tabs are usual for indentation."""


PLAIN_LINES = LineSyntax()
"""The syntax of lines of an unknown language."""


def strip_comment(line: str, syntax: LineSyntax) -> str:
    """Remove the trailing comment and blanks of a line.

    A comment mark inside a string is taken for a comment. The consequence is only that a rule does not match.
    """
    pattern = HASH_COMMENT if syntax.comment_style == "hash" else SLASH_COMMENT
    return pattern.sub("", line).rstrip()


def is_comment(line: str, syntax: LineSyntax) -> bool:
    """Return whether a line is only a comment, or ends a docstring."""
    bare = line.strip()
    if bare.endswith(('"""', "'''")):
        return True
    return bare.startswith("#" if syntax.comment_style == "hash" else ("//", "/*", "*", "<!--"))


def opens_block(line: str, syntax: LineSyntax) -> bool:
    """Return whether the statements below a line must be indented one level deeper."""
    bare = strip_comment(line, syntax)
    if not bare:
        return False
    if bare[-1] == "{":
        return True
    if bare[-1] == ":":
        return not syntax.is_prose
    if syntax.has_block_words and WORD_OPENER.search(bare):
        return True
    if syntax.has_tags:
        tag = OPEN_TAG.search(bare)
        return tag is not None and tag[1].lower() not in VOID_TAGS
    return False
