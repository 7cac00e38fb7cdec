"""Brackets of ignore patterns (`[a-z]`, `[!x]`, `[[:digit:]]`), as git reads them.

A bracket becomes the list of all bytes that it matches, so that nothing in it can mean something else to Python.
"""

import string
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.files.byte_text import to_byte_text

CHARACTER_CLASSES = {
    name: frozenset(characters.encode())
    for name, characters in {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, (*range(32), 127))),
        "digit": string.digits,
        "graph": "".join(map(chr, range(33, 127))),
        "lower": string.ascii_lowercase,
        "print": "".join(map(chr, range(32, 127))),
        "punct": string.punctuation,
        "space": string.whitespace,
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }.items()
}
BACKSLASH, HYPHEN, OPEN, CLOSE, COLON, SLASH = b"\\-[]:/"


@dataclass(frozen=True, slots=True)
class Bracket:
    """`expression` matches a byte of it, as `bytewise` has that; `end` is where the bracket ends in the pattern."""

    expression: str
    end: int


def parse_bracket(pattern: bytes, at: int) -> Bracket | None:
    """The bracket that begins at `[`. None where it is not closed, or names no class: then the whole pattern matches nothing."""
    at += 1
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    start: int | None = None
    """The byte that a range may begin with."""
    first = True
    try:
        # a `]` that comes first closes nothing
        while first or pattern[at] != CLOSE:
            first, byte, following = False, pattern[at], pattern[at + 1]
            if byte == BACKSLASH:
                at, start = at + 1, following
                members.add(following)
            elif byte == HYPHEN and start is not None and following != CLOSE:
                at += 2 if following == BACKSLASH else 1
                members.update(range(start, pattern[at] + 1))
                start = None
            elif byte == OPEN and following == COLON:
                end = pattern.index(CLOSE, at + 2)
                if end > at + 2 and pattern[end - 1] == COLON:
                    members |= CHARACTER_CLASSES[pattern[at + 2 : end - 1].decode("latin-1")]
                    at, start = end, None
                else:
                    members.add(byte)
                    start = byte
            else:
                members.add(byte)
                start = byte
            at += 1
    except (IndexError, ValueError, KeyError):
        return None
    return Bracket(_expression(members, negated=negated), at + 1)


def _expression(members: AbstractSet[int], *, negated: bool) -> str:
    """Every character by its number. A slash is never matched."""
    listed = members | {SLASH} if negated else members - {SLASH}
    if not listed:
        return "(?!)"
    numbers = "".join(f"\\u{ord(character):04x}" for character in to_byte_text(bytes(sorted(listed))))
    return f"[^{numbers}]" if negated else f"[{numbers}]"
