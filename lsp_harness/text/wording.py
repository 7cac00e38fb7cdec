"""Phrases of messages."""


def format_count(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`, `1,000 entries`.

    `plural` is the plural if it is not the noun and an s.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
