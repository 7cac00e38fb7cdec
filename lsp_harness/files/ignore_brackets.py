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


def parse_bracket(pattern: bytes, offset: int) -> Bracket | None:
    """Parse the bracket that begins with the `[` at offset `offset`.

    Return None if the bracket is not closed or has an unknown class. The whole pattern then matches nothing.
    """
    offset += 1
    is_negated = pattern[offset : offset + 1] in (b"!", b"^")
    offset += is_negated
    members: set[int] = set()
    start: int | None = None
    """The byte that may begin a range."""
    is_first = True
    try:
        # a `]` at the beginning does not close the bracket
        while is_first or pattern[offset] != CLOSE:
            is_first, byte, next_byte = False, pattern[offset], pattern[offset + 1]
            if byte == BACKSLASH:
                offset, start = offset + 1, next_byte
                members.add(next_byte)
            elif byte == HYPHEN and start is not None and next_byte != CLOSE:
                offset += 2 if next_byte == BACKSLASH else 1
                members.update(range(start, pattern[offset] + 1))
                start = None
            elif byte == OPEN and next_byte == COLON:
                end = pattern.index(CLOSE, offset + 2)
                if end > offset + 2 and pattern[end - 1] == COLON:
                    members |= CHARACTER_CLASSES[pattern[offset + 2 : end - 1].decode("latin-1")]
                    offset, start = end, None
                else:
                    members.add(byte)
                    start = byte
            else:
                members.add(byte)
                start = byte
            offset += 1
    except (IndexError, ValueError, KeyError):
        return None
    return Bracket(_expression(members, is_negated=is_negated), offset + 1)


def _expression(members: AbstractSet[int], *, is_negated: bool) -> str:
    """Return a character class that names each character by its number. It never matches a slash."""
    listed = members | {SLASH} if is_negated else members - {SLASH}
    if not listed:
        return "(?!)"
    numbers = "".join(f"\\u{ord(character):04x}" for character in to_byte_text(bytes(sorted(listed))))
    return f"[^{numbers}]" if is_negated else f"[{numbers}]"
