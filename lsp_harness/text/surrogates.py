"""Halves of surrogate pairs in a text. JSON can carry one alone (`"\\ud83d"`), and so can a document; UTF-8 has no bytes for it.

Positions count it as a character. So a document keeps it, and only what leaves the process for a program that takes UTF-8 is
made `scalar`.
"""

import re

_ANY = re.compile("[\ud800-\udfff]")


def lone(text: str) -> bool:
    """Whether a text has what UTF-8 cannot express."""
    return _ANY.search(text) is not None


def scalar(text: str) -> str:
    """The text with each pair of halves as the one character that they are, and each lone half as U+FFFD."""
    if not lone(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
