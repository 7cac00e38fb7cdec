"""Where a quote may be missing or be one too many.

A quote that is missing turns all that follows inside out, so the tree says little. Lines are read one by one instead, each as if
no string reached into it: the line on which the quotes do not come out even is the one to look at.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

MAX_SUSPECT_LINES = 4
"""How many lines are looked at."""
MAX_PLACES = 64
"""How many places for a quote are tried on one line, or between lines."""
QUOTES: dict[str, str] = {
    **dict.fromkeys(("python", "ruby", "php", "lua", "csharp", "c", "cpp", "java", "rust"), "\"'"),
    **dict.fromkeys(("javascript", "typescript", "tsx", "go", "bash"), "\"'`"),
    "json": '"',
}
MULTILINE_STRING_LANGUAGES = frozenset(["php", "ruby", "rust", "bash"])
"""Languages in which a plain string may go on on the next line."""
LONG_QUOTES: dict[str, tuple[bytes, ...]] = {
    "python": (b'"""', b"'''"),
    "java": (b'"""',),
    **dict.fromkeys(("javascript", "typescript", "tsx", "go"), (b"`",)),
}
"""Quotes of strings that go over several lines."""
CHARACTER_LANGUAGES = frozenset(["go", "rust", "java", "c", "cpp", "csharp"])
"""Languages in which an apostrophe encloses one character."""
STRING_PREFIX = re.compile(rb"(?:\A|\W)[bruBRUfF]{1,2}\Z")
"""Letters that may stand before a string."""
AFTER_STRING = re.compile(rb"[),;\]}:.]|\s*\Z|\s+[^\w\s\"'`]")
"""What mostly follows a string."""
BLANKS = re.compile(rb"[ \t]+\r?")
BEFORE_STRING = frozenset([b"", *(b"%c" % one for one in b"([{,=: ")])
"""What is mostly before a string."""
MAX_LINE_BYTES = 2000
"""Bytes of a line; a longer one is not looked at."""
PARTNER_LINES = 12
"""How many lines before and behind a quote of a long string its partner is looked for."""


class UnevenLine(NamedTuple):
    """A line on which a quote has no partner: the line, the quote, and where on the line it stands each time."""

    line: int
    quote: bytes
    places: tuple[int, ...]
    start: int
    end: int


def quotes(scene: BrokenText) -> Iterator[Trial]:
    """A quote inserted or deleted on the lines where one has no partner."""
    for odd in find_uneven_lines(scene):
        line = scene.data[odd.start : odd.end]
        for place in odd.places:
            at = odd.start + place
            yield Trial(Edit(at, at + len(odd.quote), b""), "delete", odd.quote, scene.token_at(at), -1, "quote")
        known = set(odd.places)
        for place, role in _likely(line, odd.places)[:MAX_PLACES]:
            if place - 1 in known:
                continue
            if place in known:
                role = "empty"
            at = odd.start + place
            yield _quote(scene, at, odd.quote, role)
    yield from _long(scene)


def find_uneven_lines(scene: BrokenText) -> list[UnevenLine]:
    """The lines on which a quote has no partner, those nearest to the fault first."""
    found: list[UnevenLine] = []
    tokens = scene.tokens
    lines = [tokens[point].line for point in scene.points if 0 <= point < len(tokens)] or [0]
    pattern = _pattern(scene.language)
    document = scene.tree.document
    inside = set[int]()
    for token in scene.tokens:
        if token.kind == "string" and b"\n" in token.text and _is_long(token.text):
            inside.update(range(token.line + 1, token.line + token.text.count(b"\n")))
    for number in range(len(document.starts)):
        if number in inside:
            continue
        start, end = document.line_span(number)
        if end - start > MAX_LINE_BYTES:
            continue
        line = scene.data[start:end]
        if open_quote := _unclosed(line, pattern) or (_uneven(scene.language, line) if number in lines else None):
            quote, places = open_quote
            found.append(UnevenLine(number, quote, places, start, end))

    def distance(odd: UnevenLine) -> int:
        return min((line - odd.line if line >= odd.line else 3 * (odd.line - line)) for line in lines)

    nearest = sorted(found, key=distance)[:MAX_SUSPECT_LINES]
    if scene.language in MULTILINE_STRING_LANGUAGES and found and found[0] not in nearest:
        nearest.append(found[0])
    return nearest


def _uneven(language: str, line: bytes) -> tuple[bytes, tuple[int, ...]] | None:
    """The quote that is on a line an odd number of times, whatever stands between."""
    for quote in QUOTES.get(language, "\"'").encode():
        places = tuple(at for at, byte in enumerate(line) if byte == quote and line[at - 1 : at] != b"\\")
        if len(places) % 2:
            return bytes([quote]), places
    return None


def _is_long(text: bytes) -> bool:
    """Whether a token is a string that is meant to go over several lines, and no plain one that lost its quote."""
    start = text.lstrip(b"bBrRuUfF")
    return start[:3] in (b'"""', b"'''") or (start[:1] not in (b'"', b"'") and text[:1] in b"`@$<[r" and len(text) > 1)


def _unclosed(line: bytes, pattern: re.Pattern[bytes]) -> tuple[bytes, tuple[int, ...]] | None:
    """The quote that a line leaves open, and where on the line that quote stands."""
    at, quote = 0, b""
    places: dict[bytes, list[int]] = {}
    while found := pattern.search(line, at):
        at, token = found.end(), found.group()
        if found.lastgroup == "escape":
            continue
        if quote:
            if token == quote:
                places[quote].append(found.start())
                quote = b""
            continue
        if found.lastgroup == "comment":
            break
        if found.lastgroup == "quote":
            quote = token
            places.setdefault(token, []).append(found.start())
    return (quote, tuple(places[quote])) if quote else None


@cache
def _pattern(language: str) -> re.Pattern[bytes]:
    comments = {
        "python": "#",
        "ruby": "#(?!\\{)",
        "bash": "(?<!\\S)#",
        "lua": "--",
        "php": "//|(?<!\\S)#(?!\\[)",
        "json": "//",
    }
    character = r"|(?P<whole>'(?:\\.[^'\n]{0,8}|[^'\\\n])')" if language in CHARACTER_LANGUAGES else ""
    lifetime = r"|(?P<lifetime>'\w+\b(?!'))" if language == "rust" else ""
    source = (
        r"(?P<escape>\\.)"
        + r'|(?P<long>"""|\'\'\')' * (language in ("python", "java"))
        + character
        + lifetime
        + r"|(?P<comment>"
        + comments.get(language, "//|/\\*")
        + r")|(?P<quote>["
        + QUOTES.get(language, "\"'")
        + "])"
    )
    return re.compile(source.encode())


def _boundaries(line: bytes) -> list[int]:
    """Places on a line that are not inside of a word and not in the indentation."""
    first = len(line) - len(line.lstrip())
    found: list[int] = []
    for place in range(first, len(line) + 1):
        left, right = line[place - 1 : place] if place else b"", line[place : place + 1]
        in_word = left and right and _letter(left[0]) and _letter(right[0])
        if (in_word and not STRING_PREFIX.search(line[max(0, place - 3) : place])) or left == right == b" ":
            continue
        found.append(place)
    return found


def _likely(line: bytes, known: tuple[int, ...]) -> list[tuple[int, str]]:
    """The places for a quote and what it does there, those first where strings mostly begin and end."""
    found: list[tuple[int, int, str]] = []
    for place in _boundaries(line):
        closing = sum(one < place for one in known) % 2 == 1
        if closing and BLANKS.fullmatch(line, place):
            # editors remove blanks at the end of a line of code: these belong to the string
            continue
        if closing:
            usual = AFTER_STRING.match(line, place) is not None
            likely = line[place : place + 1] == b" "
        else:
            usual = line[max(0, place - 1) : place] in BEFORE_STRING
            likely = False
        found.append((0 if usual else 1 if likely else 2, place, "closing" if closing else "opening"))
    return [(place, role) for _, place, role in sorted(found)]


def _letter(byte: int) -> bool:
    return byte > 127 or chr(byte).isalnum() or byte == 95


def _long(scene: BrokenText) -> Iterator[Trial]:
    """A quote of a string over several lines, before or behind the lines around the places where such quotes stand."""
    for quote in LONG_QUOTES.get(scene.language, ()):
        if len(quote) == 3:
            yield from _thirds(scene, quote)
        places = [found.start() for found in re.finditer(re.escape(quote), scene.data)]
        if len(places) % 2 == 0:
            continue
        tokens = scene.tokens
        offsets = [tokens[point].start for point in scene.points if 0 <= point < len(tokens)] or [0]
        nearest = sorted(places, key=lambda place: min(abs(place - offset) for offset in offsets))[:3]
        for place in sorted({*nearest, places[0], places[-1]}):
            yield Trial(Edit(place, place + len(quote), b""), "delete", quote, scene.token_at(place), -1, "quote")
            yield from _partners(scene, quote, place)


def _thirds(scene: BrokenText, quote: bytes) -> Iterator[Trial]:
    """A third quote where there are two, and one of four deleted."""
    one = quote[:1]
    for found in re.finditer(re.escape(one) + b"+", scene.data):
        start, end = found.span()
        if end - start == 2:
            yield _quote(scene, start, one, "third")
        elif end - start == 4:
            yield Trial(Edit(start, start + 1, b""), "delete", one, scene.token_at(start), -1, "fourth")


def _partners(scene: BrokenText, quote: bytes, place: int) -> Iterator[Trial]:
    """The quote at the beginning and at the end of each line around the place of one that has no partner."""
    document = scene.tree.document
    line = document.line_of(place)
    around = range(max(0, line - PARTNER_LINES), min(len(document.starts), line + PARTNER_LINES + 1))
    for number in sorted(around, key=lambda n: abs(n - line)):
        start, end = document.line_span(number)
        text = scene.data[start:end]
        if not text.strip():
            if text and quote != b"`":
                yield _quote(scene, end, quote, "blank line")
            continue
        if not text.strip().startswith(quote):
            yield _quote(scene, start + len(text) - len(text.lstrip()), quote, "line start")
        yield _quote(scene, start + len(text.rstrip()), quote, "line end")
        if quote == b"`" and number == line:
            yield from (_quote(scene, start + at, quote, "in line") for at in _boundaries(text))


def _quote(scene: BrokenText, at: int, quote: bytes, note: str) -> Trial:
    return Trial(Edit(at, at, quote), "insert", quote, scene.token_at(at), -1, note)
