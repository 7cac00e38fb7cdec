"""Insertion of missing quotes and deletion of surplus quotes.

After a missing quote all strings and code are exchanged, so the tree is of little use. Instead the lines are read one
by one, each as if no string reached into it. A line with an uneven number of quotes is suspect.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

MAX_SUSPECT_LINES = 4
"""Maximum number of lines that are examined."""
MAX_PLACES = 64
"""Maximum number of places for a quote on one line."""
STRING_PREFIX = re.compile(rb"(?:\A|\W)[bruBRUfF]{1,2}\Z")
"""Letters that may stand before a string."""
AFTER_STRING = re.compile(rb"[),;\]}:.]|\s*\Z|\s+[^\w\s\"'`]")
"""The text that usually follows a string."""
BLANKS = re.compile(rb"[ \t]+\r?")
BEFORE_STRING = frozenset([b"", *(b"%c" % byte for byte in b"([{,=: ")])
"""The text that usually precedes a string."""
MAX_LINE_BYTES = 2000
"""Maximum size of a line that is examined."""
PARTNER_LINES = 12
"""Number of lines before and after a quote of a long string in which its partner is searched."""


class UnevenLine(NamedTuple):
    """A line on which a quote has no partner.

    Attributes:
        line: The number of the line.
        quote: The quote.
        places: The byte columns of all such quotes on the line.
        start: The byte offset at which the line starts.
        end: The byte offset at which it ends.
    """

    line: int
    quote: bytes
    places: tuple[int, ...]
    start: int
    end: int


def quotes(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield insertions and deletions of a quote on the lines on which a quote has no partner."""
    for uneven_line in find_uneven_lines(broken_text):
        line = broken_text.data[uneven_line.start : uneven_line.end]
        for place in uneven_line.places:
            position = uneven_line.start + place
            yield Trial(
                Edit(position, position + len(uneven_line.quote), b""),
                "delete",
                uneven_line.quote,
                broken_text.token_at(position),
                -1,
                "quote",
            )
        quote_places = set(uneven_line.places)
        for place, role in _rank_places(line, uneven_line.places)[:MAX_PLACES]:
            if place - 1 in quote_places:
                continue
            if place in quote_places:
                role = "empty"
            position = uneven_line.start + place
            yield _insert_quote(broken_text, position, uneven_line.quote, role)
    yield from _long_quotes(broken_text)


def find_uneven_lines(broken_text: BrokenText) -> list[UnevenLine]:
    """Return the lines on which a quote has no partner, the nearest to the fault first."""
    uneven_lines: list[UnevenLine] = []
    tokens = broken_text.tokens
    lines = [tokens[point].line for point in broken_text.fault_places if 0 <= point < len(tokens)] or [0]
    pattern = _make_pattern(broken_text.language)
    document = broken_text.tree.document
    lines_in_strings = set[int]()
    for token in broken_text.tokens:
        if token.kind == "string" and b"\n" in token.text and _is_long(token.text):
            lines_in_strings.update(range(token.line + 1, token.line + token.text.count(b"\n")))
    for number in range(len(document.line_starts)):
        if number in lines_in_strings:
            continue
        start, end = document.line_span(number)
        if end - start > MAX_LINE_BYTES:
            continue
        line = broken_text.data[start:end]
        if open_quote := _find_open_quote(line, pattern) or (
            _find_odd_quote(broken_text.language, line) if number in lines else None
        ):
            quote, places = open_quote
            uneven_lines.append(UnevenLine(number, quote, places, start, end))

    def distance(uneven_line: UnevenLine) -> int:
        return min(
            (line - uneven_line.line if line >= uneven_line.line else 3 * (uneven_line.line - line)) for line in lines
        )

    nearest = sorted(uneven_lines, key=distance)[:MAX_SUSPECT_LINES]
    if broken_text.language.recovery.has_multiline_strings and uneven_lines and uneven_lines[0] not in nearest:
        nearest.append(uneven_lines[0])
    return nearest


def _find_odd_quote(language: LanguageSpec, line: bytes) -> tuple[bytes, tuple[int, ...]] | None:
    """Return the quote that occurs an odd number of times on a line, and its places.

    Quotes in comments and strings count too.
    """
    for quote in language.recovery.quotes.encode():
        places = tuple(
            position for position, byte in enumerate(line) if byte == quote and line[position - 1 : position] != b"\\"
        )
        if len(places) % 2:
            return bytes([quote]), places
    return None


def _is_long(text: bytes) -> bool:
    """Return whether a string token may have several lines. A plain string with several lines lacks a quote."""
    start = text.lstrip(b"bBrRuUfF")
    return start[:3] in (b'"""', b"'''") or (start[:1] not in (b'"', b"'") and text[:1] in b"`@$<[r" and len(text) > 1)


def _find_open_quote(line: bytes, pattern: re.Pattern[bytes]) -> tuple[bytes, tuple[int, ...]] | None:
    """Return the quote that a line leaves open, and all places of that quote on the line."""
    position, quote = 0, b""
    places: dict[bytes, list[int]] = {}
    while match := pattern.search(line, position):
        position, token = match.end(), match.group()
        if match.lastgroup == "escape":
            continue
        if quote:
            if token == quote:
                places[quote].append(match.start())
                quote = b""
            continue
        if match.lastgroup == "comment":
            break
        if match.lastgroup == "quote":
            quote = token
            places.setdefault(token, []).append(match.start())
    return (quote, tuple(places[quote])) if quote else None


@cache
def _make_pattern(language: LanguageSpec) -> re.Pattern[bytes]:
    traits = language.recovery
    character = r"|(?P<whole>'(?:\\.[^'\n]{0,8}|[^'\\\n])')" if language.tokens.has_character_literals else ""
    lifetime = r"|(?P<lifetime>'\w+\b(?!'))" if traits.has_lifetimes else ""
    source = (
        r"(?P<escape>\\.)"
        + r'|(?P<long>"""|\'\'\')' * any(len(quote) == 3 for quote in traits.long_quotes)
        + character
        + lifetime
        + r"|(?P<comment>"
        + traits.comment_pattern
        + r")|(?P<quote>["
        + traits.quotes
        + "])"
    )
    return re.compile(source.encode())


def _find_places(line: bytes) -> list[int]:
    """Return the places on a line that are neither inside a word nor in the indentation."""
    first = len(line) - len(line.lstrip())
    places: list[int] = []
    for place in range(first, len(line) + 1):
        left_byte, right_byte = line[place - 1 : place] if place else b"", line[place : place + 1]
        is_in_word = left_byte and right_byte and _is_letter(left_byte[0]) and _is_letter(right_byte[0])
        if (
            is_in_word and not STRING_PREFIX.search(line[max(0, place - 3) : place])
        ) or left_byte == right_byte == b" ":
            continue
        places.append(place)
    return places


def _rank_places(line: bytes, quote_places: tuple[int, ...]) -> list[tuple[int, str]]:
    """Return the places for a quote and its role there. Places where strings usually begin and end come first."""
    candidates: list[tuple[int, int, str]] = []
    for place in _find_places(line):
        is_closing = sum(place_before < place for place_before in quote_places) % 2 == 1
        if is_closing and BLANKS.fullmatch(line, place):
            # editors remove blanks at the end of a line of code, so these blanks belong to the string
            continue
        if is_closing:
            is_usual = AFTER_STRING.match(line, place) is not None
            is_likely = line[place : place + 1] == b" "
        else:
            is_usual = line[max(0, place - 1) : place] in BEFORE_STRING
            is_likely = False
        candidates.append((0 if is_usual else 1 if is_likely else 2, place, "closing" if is_closing else "opening"))
    return [(place, role) for _, place, role in sorted(candidates)]


def _is_letter(byte: int) -> bool:
    return byte > 127 or chr(byte).isalnum() or byte == 95


def _long_quotes(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield insertions and deletions of quotes of strings with several lines."""
    for quote in broken_text.language.recovery.long_quotes:
        if len(quote) == 3:
            yield from _triple_quotes(broken_text, quote)
        places = [match.start() for match in re.finditer(re.escape(quote), broken_text.data)]
        if len(places) % 2 == 0:
            continue
        tokens = broken_text.tokens
        offsets = [tokens[point].start for point in broken_text.fault_places if 0 <= point < len(tokens)] or [0]
        nearest = sorted(places, key=lambda place: min(abs(place - offset) for offset in offsets))[:3]
        for place in sorted({*nearest, places[0], places[-1]}):
            yield Trial(Edit(place, place + len(quote), b""), "delete", quote, broken_text.token_at(place), -1, "quote")
            yield from _partner_quotes(broken_text, quote, place)


def _triple_quotes(broken_text: BrokenText, quote: bytes) -> Iterator[Trial]:
    """Yield a third quote where there are two, and the deletion of one of four quotes."""
    single_quote = quote[:1]
    for match in re.finditer(re.escape(single_quote) + b"+", broken_text.data):
        start, end = match.span()
        if end - start == 2:
            yield _insert_quote(broken_text, start, single_quote, "third")
        elif end - start == 4:
            yield Trial(Edit(start, start + 1, b""), "delete", single_quote, broken_text.token_at(start), -1, "fourth")


def _partner_quotes(broken_text: BrokenText, quote: bytes, place: int) -> Iterator[Trial]:
    """Yield a quote at the beginning and the end of each line near a quote without a partner."""
    document = broken_text.tree.document
    line = document.line_of(place)
    numbers = range(max(0, line - PARTNER_LINES), min(len(document.line_starts), line + PARTNER_LINES + 1))
    for number in sorted(numbers, key=lambda n: abs(n - line)):
        start, end = document.line_span(number)
        text = broken_text.data[start:end]
        if not text.strip():
            if text and quote != b"`":
                yield _insert_quote(broken_text, end, quote, "blank line")
            continue
        if not text.strip().startswith(quote):
            yield _insert_quote(broken_text, start + len(text) - len(text.lstrip()), quote, "line start")
        yield _insert_quote(broken_text, start + len(text.rstrip()), quote, "line end")
        if quote == b"`" and number == line:
            yield from (
                _insert_quote(broken_text, start + position, quote, "in line") for position in _find_places(text)
            )


def _insert_quote(broken_text: BrokenText, position: int, quote: bytes, note: str) -> Trial:
    return Trial(Edit(position, position, quote), "insert", quote, broken_text.token_at(position), -1, note)
