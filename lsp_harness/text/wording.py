"""How messages are worded, for all that print some."""


def format_count(count: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2 files`, `1,000 entries`; `plural` where it is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
