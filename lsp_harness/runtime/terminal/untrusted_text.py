"""Texts that a program shows about itself. They come from outside, so they are cleaned before anyone sees them."""

import unicodedata

MAX_TITLE_CHARACTERS = 512
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories of characters that are removed: control characters, marks of the writing direction, halves of pairs."""


def clean_text(text: str, limit: int = MAX_TITLE_CHARACTERS) -> str:
    """Return a text without control characters and marks of the writing direction, with at most `limit` characters."""
    shown = "".join(c for c in text[: limit * 2] if c == "\u200d" or unicodedata.category(c) not in HIDDEN_CATEGORIES)
    return shown[:limit].strip()


def has_control_characters(text: str) -> bool:
    """Return whether a text contains control characters."""
    return any(unicodedata.category(character) == "Cc" for character in text)
