"""Phrases of messages."""

import re


def fence_code(text: str, language: str = "") -> list[str]:
    """Return the lines of a code block. Its fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]


def format_count(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`, `1,000 entries`.

    `plural` is the plural if it is not the noun and an s.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
