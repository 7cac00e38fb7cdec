"""Where the user wrote or looked last, in other files and far away in this one: what they are about to write is often like it.

Only places are kept while a text is open, what stands there is read when it is asked for; of a text that is closed, its last one.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from lsp_harness.files.secrets import secret_lines
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_PLACES = 16
"""Places that are kept, over all files."""
MAX_CLOSED_DOCUMENTS = 8
"""Closed texts that are kept at most."""
RADIUS_LINES = 8
"""Lines on either side of a place."""
PROMPT_RADIUS_LINES = 80
"""Lines from the cursor within which a place of the same file is in the prompt anyway."""
LEAST, COPY = 0.1, 0.8
"""Words that a piece and the lines at the cursor both have, of all that either has: less has nothing to do with it, and with more
it says nothing new."""
WORD = re.compile(r"[^\W\d]\w+")


@dataclass(slots=True)
class _Place:
    uri: str
    path: str
    line: int
    edited: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a file as they are now."""

    path: str
    text: str
    edited: bool


class RecentEdits:
    """One per front end. `opened` gives the text that is open by a URI, `kept` says why a file is kept from the model."""

    def __init__(self, opened: Callable[[str], Document | None], kept: Callable[[str, str], str]) -> None:
        self._opened = opened
        self._kept = kept
        self._places: list[_Place] = []
        """The last first."""
        self._closed: OrderedDict[str, Document] = OrderedDict()

    def edited(self, uri: str, path: str, line: int, grown: int = 0) -> None:
        """The user changed a line, which took in `grown` more lines, or so many fewer."""
        for place in self._places:
            if place.uri == uri and place.line > line:
                place.line = max(line, place.line + grown)
        self._put(_Place(uri, path, line, edited=True))

    def looked(self, uri: str, path: str, line: int) -> None:
        """The user's cursor rests on a line."""
        self._put(_Place(uri, path, line, edited=False))

    def closed(self, document: Document) -> None:
        """The text is open no more."""
        if any(place.uri == document.uri for place in self._places):
            self._closed[document.uri] = document
            self._closed.move_to_end(document.uri)
            while len(self._closed) > MAX_CLOSED_DOCUMENTS:
                self._closed.popitem(last=False)

    def pieces(self, document: Document, line: int) -> list[Piece]:
        """Those that have to do with the lines around this one, the likest first; none of what is near there."""
        wanted = _words(document, max(0, line - RADIUS_LINES), line + RADIUS_LINES)
        found: list[tuple[float, int, Piece]] = []
        # who is kept is looked up on disk: once for a file, not for each of its places
        kept = {place.uri: self._kept(place.uri, place.path) for place in self._places}
        for age, place in enumerate(self._places):
            text = "" if kept[place.uri] else self._text(place, document, line)
            words = set(WORD.findall(text))
            alike = len(words & wanted) / len(words | wanted) if words else 0.0
            if LEAST <= alike <= COPY:
                found.append((-alike, age, Piece(place.path, text, place.edited)))
        return [piece for _, _, piece in sorted(found, key=lambda each: each[:2])]

    def _put(self, new: _Place) -> None:
        near = [one for one in self._places if one.uri == new.uri and abs(one.line - new.line) <= RADIUS_LINES]
        # to look at what was just written makes it no less written
        new.edited = new.edited or any(one.edited for one in near)
        self._places = [new, *(one for one in self._places if one not in near)][:MAX_PLACES]

    def _text(self, place: _Place, document: Document, line: int) -> str:
        """The lines there, with what leads in and out of secrets left out; nothing where the model has them anyway."""
        here = place.uri == document.uri
        if here and abs(place.line - line) <= PROMPT_RADIUS_LINES:
            return ""
        there = document if here else self._opened(place.uri) or self._closed.get(place.uri)
        if there is None or there.binary:
            return ""
        hidden = secret_lines(there)
        last = min(len(there.starts), place.line + RADIUS_LINES + 1)
        lines = [
            decode(there.line(n)).rstrip("\r\n")
            for n in range(max(0, place.line - RADIUS_LINES), last)
            if n not in hidden
        ]
        return "\n".join(lines).strip("\n")


def _words(document: Document, first: int, last: int) -> set[str]:
    lines = range(first, min(len(document.starts), last + 1))
    return {word for n in lines for word in WORD.findall(decode(document.line(n)))}
