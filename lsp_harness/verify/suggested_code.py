"""The code that the message of a linter suggests, such as "Use `a in (b, c)` instead of multiple comparisons"."""

import re

_CODE = r"`([^`\n]{1,400})`"
SUGGESTION = re.compile(
    rf"(?:\b(?:use|prefer|try|rewrite as|rewrite using|replace with|should be|did you mean|consider|consider using):?"
    rf"|\breplace {_CODE} (?:with|by)) {_CODE}",
    re.IGNORECASE,
)
REPLACED_CODE = re.compile(rf"\b(?:instead of|over|replace|rather than) {_CODE}", re.IGNORECASE)
ELLIPSES = ("...", "…")
"""Marks of code that a message shortens."""


def find_suggestions(message: str) -> list[str]:
    """Return the pieces of code that a message suggests, in its order, without those that it shortens."""
    found = dict.fromkeys(match.group(2) for match in SUGGESTION.finditer(message))
    return [code for code in found if not any(mark in code for mark in ELLIPSES)]


def find_replaced_code(message: str) -> list[str]:
    """Return the pieces of code that a message wants to be replaced, in its order."""
    return list(dict.fromkeys(match.group(1) for match in REPLACED_CODE.finditer(message)))
