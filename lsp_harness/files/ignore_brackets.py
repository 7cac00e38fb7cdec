"""Brackets of ignore patterns (`[a-z]`, `[!x]`, `[[:digit:]]`), as git reads them.

A bracket is translated to the list of all bytes that it matches, so that Python cannot interpret any part of it
differently.
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
    """A bracket of a pattern.

    Attributes:
        expression: A regular expression that matches one byte of the bracket in a byte text.
        end: The offset in the pattern at which the bracket ends.
    """

    expression: str
    end: int


def parse_bracket(pattern: bytes, at: int) -> Bracket | None:
    """Parse the bracket that begins with the `[` at offset `at`.

    Return None if the bracket is not closed or has an unknown class. The whole pattern then matches nothing.
    """
    at += 1
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    start: int | None = None
    """The byte that may begin a range."""
    first = True
    try:
        # a `]` at the beginning does not close the bracket
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
    """Return a character class that names each character by its number. It never matches a slash."""
    listed = members | {SLASH} if negated else members - {SLASH}
    if not listed:
        return "(?!)"
    numbers = "".join(f"\\u{ord(character):04x}" for character in to_byte_text(bytes(sorted(listed))))
    return f"[^{numbers}]" if negated else f"[{numbers}]"
