"""Texts of models, files and other programs in a form that hides nothing.

A person who decides about a text must see all of it. So each character that shows nothing, controls a terminal or
changes the direction of the text becomes an escape: `\\u001b`, or `\\U000e0041` for one beyond U+FFFF. A long row of
blanks, which would push the rest out of sight, becomes one escape with a number: `\\u0020{200}`. A backslash that would
look like the beginning of an escape becomes one itself, so that each shown text stands for exactly one text.
"""

import re
import unicodedata
from functools import lru_cache

LONGEST_BLANK, MOST_LINE_ENDS = 60, 6
"""Blanks in a row, and line ends in a row, that are shown as they are."""
CONTROL_CHARACTERS = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Matches characters that control a terminal or change the direction of text. Line ends and tabs are not among them."""
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
BLANK_SIGNS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
"""Matches characters of other categories that show nothing by themselves."""
ODD_PARTS = re.compile(
    r"\\(?=u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
    rf"|(?:(?P<row>([ \t])\2{{{LONGEST_BLANK},}}|\n{{{MOST_LINE_ENDS + 1},}})|(?P<sign>[^\n\t -~]))(?P<braces>\{{*)"
)
"""Matches what may have to be escaped. A brace behind an escape would look like its number."""


def escape_controls(text: str) -> str:
    """Return the text with escapes such as `\\u001b` for control characters, which file names and code may contain."""
    return CONTROL_CHARACTERS.sub(lambda match: _escape(match[0]), text)


def reveal(text: str) -> str:
    """Return a text of which nothing is hidden. Line ends and tabs stay."""
    return ODD_PARTS.sub(_reveal_part, text)


def reveal_line(text: str) -> str:
    """Return a text of which nothing is hidden in one line."""
    return reveal(text).replace("\n", _escape("\n"))


def escape_unencodable(text: str, encoding: str) -> str:
    """Return a text with escapes for the characters that an encoding lacks. Another sign would be another text."""
    return "".join(sign if _is_encodable(sign, encoding) else _escape(sign) for sign in text)


def _reveal_part(match: re.Match[str]) -> str:
    if (sign := match["sign"]) is not None and not _is_hidden(sign):
        return match[0]
    braces = _escape("{") * len(match["braces"] or "")
    if row := match["row"]:
        return f"{_escape(row[0])}{{{len(row)}}}{braces}"
    return _escape(sign or "\\") + braces


@lru_cache(4_096)
def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in HIDDEN_CATEGORIES or BLANK_SIGNS.match(sign) is not None


@lru_cache(4_096)
def _is_encodable(sign: str, encoding: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escape(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
