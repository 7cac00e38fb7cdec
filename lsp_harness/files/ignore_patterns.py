"""Translation of ignore patterns to regular expressions. They match what git matches, and none takes exponential time.

This module interprets brackets, backslashes and blanks, and passes a stand-in character for each to pathspec, from the
private use area of Unicode. pathspec translates the stars and slashes. ADR 16 says why
(`docs/adr/0016-ignore-patterns.md`).

An ignore file may come from anybody, and for a pattern such as `*a*a*a*a*b` a regular expression tries all ways to
choose the `a` of a name. One way is enough: between two stars of a path component there is a fixed number of
characters, and between two `**` a fixed number of components. The first place that fits leaves the most text for the
rest of the pattern, so no other place has to be tried.
"""

import os
import re
import string
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

HIGH_BYTE_OFFSET = 0x100
HIGH_BYTE_CHARACTERS = {byte: HIGH_BYTE_OFFSET + byte for byte in (*range(0x80, 0x100), ord("\n"))}
"""Characters for bytes beyond ASCII and for the line feed. Python does not treat them as blanks or line ends."""


def to_byte_text(data: bytes) -> str:
    """Return the byte text of some bytes."""
    return data.decode("latin-1").translate(HIGH_BYTE_CHARACTERS)


def convert_path_to_byte_text(path: str) -> str:
    """Return the byte text of a path."""
    return path if path.isascii() and "\n" not in path else to_byte_text(os.fsencode(path))


STAR = "[^/]*"
"""The expression of pathspec for `*`. No pattern contains this text itself, because pathspec escapes it."""
LEADING_FOLDERS = "^(?:.+/)?"
"""The expression of pathspec for `**` at the beginning."""
INNER_FOLDERS = "(?:/.+)?"
"""The expression of pathspec for `**` in the middle."""
CHARACTER_CLASS = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
NO_SLASH = "(?!/)"

FIRST_STAND_IN = 0xE000
STAND_IN = re.compile("[\ue000-\uf8ff]")
LONE_STARS = re.compile(r"(?<![^/])\*{3,}(?![^/])")
"""For git three or more stars are the same as two."""


def compile_pattern(line: bytes) -> tuple[re.Pattern[str], bool] | None:
    """Translate a line of an ignore file.

    Returns:
        The regular expression for the byte text of a path, and whether a path that matches is ignored (True) or
        included again (False). None for blank lines, comments and patterns that git rejects.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    text = _trim_line(line)
    include = not text.startswith(b"!")
    if text.startswith(b"#") or (stand_ins := _with_stand_ins(text if include else text[1:])) is None:
        return None
    pattern, expressions = stand_ins
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
    except ValueError:
        return None
    if regex is None:
        return None
    whole = STAND_IN.sub(lambda match: expressions[ord(match[0]) - FIRST_STAND_IN], remove_backtracking(regex))
    return re.compile(whole), include


def _trim_line(line: bytes) -> bytes:
    """Return the pattern in a line, without what follows a NUL and without trailing blanks.

    A backslash keeps the blank behind it.
    """
    text = line.removesuffix(b"\r").partition(b"\0")[0]
    bare = text.rstrip(b" ")
    escapes = (len(bare) - len(bare.rstrip(b"\\"))) % 2
    return text[: len(bare) + escapes]


def _with_stand_ins(pattern: bytes) -> tuple[str, list[str]] | None:
    """Return the pattern for pathspec, and the expressions of its stand-ins in order.

    Return None if git rejects the pattern.
    """
    characters, expressions, offset = list[str](), list[str](), 0
    is_anchored = False
    while offset < len(pattern):
        byte, start = pattern[offset], offset
        if byte == OPEN:
            if (bracket := parse_bracket(pattern, offset)) is None:
                return None
            expression, offset = bracket.expression, bracket.end
            # a pattern with a slash is relative to its folder; for git a slash in brackets counts too
            is_anchored = is_anchored or SLASH in pattern[start:offset]
        else:
            is_escaped = byte == BACKSLASH
            offset += 1 + is_escaped
            if offset > len(pattern) or pattern[start:] == b"\\/":
                return None
            character = to_byte_text(pattern[offset - 1 : offset])
            is_plain = character == "/" or not (is_escaped or character.isspace() or (start == 0 and character in "#!"))
            expression = "" if is_plain else re.escape(character)
            if is_plain:
                characters.append(character)
        if expression:
            characters.append(chr(FIRST_STAND_IN + len(expressions)))
            expressions.append(expression)
    text = LONE_STARS.sub("**", "".join(characters))
    return f"/{text}" if is_anchored and not text.startswith("/") else text, expressions


def remove_backtracking(regex: str) -> str:
    """Put atomic groups around all stars but the last, so that matching does not go back to them.

    What follows the last star or `**` must be searched from the end, so it may backtrack. No character class matches a
    slash, as in git.

    Args:
        regex: An expression of pathspec.
    """
    begin, *parts = map(_make_stars_atomic, CHARACTER_CLASS.sub(_exclude_slash, regex).split(INNER_FOLDERS))
    if not parts:
        return begin
    if begin.startswith(LEADING_FOLDERS):
        begin = f"^(?>(?:[^/]+/)*?{begin.removeprefix(LEADING_FOLDERS)}(?=/))"
    blocks = "".join(f"(?>(?:/[^/]+)*?{part}(?=/))" for part in parts[:-1])
    return f"{begin}{blocks}{INNER_FOLDERS}{parts[-1]}"


def _make_stars_atomic(part: str) -> str:
    begin, *pieces = part.split(STAR)
    expressions = [begin]
    for n, piece in enumerate(pieces, 1):
        # the last star of a component must reach the end of the component
        is_last = n == len(pieces) or "/" in piece.replace("[^/]", "").replace(NO_SLASH, "")
        expressions.append(f"{STAR}{piece}" if is_last else f"(?>{STAR}?{piece})")
    return "".join(expressions)


def _exclude_slash(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("\\") or match[0] == "[^/]" else NO_SLASH + match[0]


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
    return Bracket(_build_class(members, is_negated=is_negated), offset + 1)


def _build_class(members: AbstractSet[int], *, is_negated: bool) -> str:
    """Return a character class that names each character by its number. It never matches a slash."""
    listed = members | {SLASH} if is_negated else members - {SLASH}
    if not listed:
        return "(?!)"
    numbers = "".join(f"\\u{ord(character):04x}" for character in to_byte_text(bytes(sorted(listed))))
    return f"[^{numbers}]" if is_negated else f"[{numbers}]"
