"""The regular expressions of ignore patterns: they match what git matches, and none takes for ever.

What a bracket, a backslash or a blank means is decided here; pathspec, which reads the stars and slashes, sees a character in place of each,
of those that Unicode leaves to private use.

An ignore file is anybody's: `*a*a*a*a*b` asks of a name of many `a` in how many ways these can be chosen. But one way is enough.
Between two stars of a component only a known number of characters is wanted, and between two `**` only such components: who takes
the first place that fits leaves the most to what follows, so that no other place need be tried.
"""

import re

from lsp_harness.files.byte_text import to_byte_text
from lsp_harness.files.ignore_brackets import BACKSLASH, OPEN, SLASH, parse_bracket

STAR = "[^/]*"
"""What pathspec makes of `*`, and below of `**` where a pattern begins and within it. No pattern can say any of these itself: what it
says is escaped, and no class of characters has a slash in it."""
LEADING_FOLDERS = "^(?:.+/)?"
INNER_FOLDERS = "(?:/.+)?"
CHARACTER_CLASS = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
NO_SLASH = "(?!/)"


FIRST_STAND_IN = 0xE000
STAND_IN = re.compile("[\ue000-\uf8ff]")
LONE_STARS = re.compile(r"(?<![^/])\*{3,}(?![^/])")
"""Three or more are two, to git."""


def compile_pattern(line: bytes) -> tuple[re.Pattern[str], bool] | None:
    """What a line of an ignore file means: the expression for paths, as `bytewise_path` has them, and whether these are ignored or
    taken back. None for what matches nothing: blank lines, comments, and what git refuses."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    text = _trimmed(line)
    include = not text.startswith(b"!")
    if text.startswith(b"#") or (stand_ins := _with_stand_ins(text if include else text[1:])) is None:
        return None
    pattern, meanings = stand_ins
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
    except ValueError:
        return None
    if regex is None:
        return None
    whole = STAND_IN.sub(lambda found: meanings[ord(found[0]) - FIRST_STAND_IN], remove_backtracking(regex))
    return re.compile(whole), include


def _trimmed(line: bytes) -> bytes:
    """The pattern in a line: up to a NUL, and without blanks at its end, but for one that a backslash is before."""
    text = line.removesuffix(b"\r").partition(b"\0")[0]
    bare = text.rstrip(b" ")
    escapes = (len(bare) - len(bare.rstrip(b"\\"))) % 2
    return text[: len(bare) + escapes]


def _with_stand_ins(pattern: bytes) -> tuple[str, list[str]] | None:
    """The pattern for pathspec, and the expressions of its stand-ins in their order. None where git refuses it."""
    made, meanings, at = list[str](), list[str](), 0
    anchored = False
    while at < len(pattern):
        byte, start = pattern[at], at
        if byte == OPEN:
            if (found := parse_bracket(pattern, at)) is None:
                return None
            meaning, at = found.expression, found.end
            # a pattern with a slash is about paths from its own folder on; git looks for one in brackets, too
            anchored = anchored or SLASH in pattern[start:at]
        else:
            escaped = byte == BACKSLASH
            at += 1 + escaped
            if at > len(pattern) or pattern[start:] == b"\\/":
                return None
            character = to_byte_text(pattern[at - 1 : at])
            plain = character == "/" or not (escaped or character.isspace() or (start == 0 and character in "#!"))
            meaning = "" if plain else re.escape(character)
            if plain:
                made.append(character)
        if meaning:
            made.append(chr(FIRST_STAND_IN + len(meanings)))
            meanings.append(meaning)
    text = LONE_STARS.sub("**", "".join(made))
    return f"/{text}" if anchored and not text.startswith("/") else text, meanings


def remove_backtracking(regex: str) -> str:
    """The same without ways to go back; what follows the last star or `**` has to be looked for from the end. A class never means
    a slash, as in git."""
    begin, *parts = map(_stars, CHARACTER_CLASS.sub(_of_component, regex).split(INNER_FOLDERS))
    if not parts:
        return begin
    if begin.startswith(LEADING_FOLDERS):
        begin = f"^(?>(?:[^/]+/)*?{begin.removeprefix(LEADING_FOLDERS)}(?=/))"
    blocks = "".join(f"(?>(?:/[^/]+)*?{part}(?=/))" for part in parts[:-1])
    return f"{begin}{blocks}{INNER_FOLDERS}{parts[-1]}"


def _stars(part: str) -> str:
    begin, *pieces = part.split(STAR)
    made = [begin]
    for n, piece in enumerate(pieces, 1):
        # the last one of a component has to reach its end
        ends = n == len(pieces) or "/" in piece.replace("[^/]", "").replace(NO_SLASH, "")
        made.append(f"{STAR}{piece}" if ends else f"(?>{STAR}?{piece})")
    return "".join(made)


def _of_component(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") or found[0] == "[^/]" else NO_SLASH + found[0]
