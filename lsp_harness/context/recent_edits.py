"""The places that the user edited or looked at last: what the user writes next is often similar to the code there.

While a document is open, only the line numbers are stored, and the text is read when it is needed. Of a closed document
its last version is stored.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_PLACES = 16
"""Most places to remember, over all documents."""
MAX_CLOSED_DOCUMENTS = 8
RADIUS_LINES = 8
"""Lines to quote on either side of a place."""
PROMPT_RADIUS_LINES = 80
"""A place of the same document at most so many lines from the cursor is in the prompt anyway."""
MIN_SIMILARITY, MAX_SIMILARITY = 0.1, 0.8
"""Limits for the share of words that a piece and the lines at the cursor have in common (of all words in either). A
less similar piece is unrelated, and a more similar one says nothing new."""
WORD = re.compile(r"[^\W\d]\w+")


@dataclass(slots=True)
class _Place:
    uri: str
    path: str
    line: int
    is_edited: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a document as they are now. `is_edited`: the user changed them, and did not only look at them."""

    path: str
    text: str
    is_edited: bool


class RecentEdits:
    """The places that the user edited or looked at last, in all documents of one front end."""

    def __init__(
        self, find_document: Callable[[str], Document | None], exclusion_reason: Callable[[str, str], str]
    ) -> None:
        """Create an empty history.

        Args:
            find_document: Returns the open document with a URI.
            exclusion_reason: Returns why the file with this URI and path must not reach the model, or an empty text.
        """
        self._find_document = find_document
        self._exclusion_reason = exclusion_reason
        self._places: list[_Place] = []
        """The places, the most recent first."""
        self._closed: OrderedDict[str, Document] = OrderedDict()

    def record_edit(self, uri: str, path: str, line: int, added_lines: int = 0) -> None:
        """Remember that the user changed a line, and added or (if negative) removed lines there."""
        for place in self._places:
            if place.uri == uri and place.line > line:
                place.line = max(line, place.line + added_lines)
        self._add(_Place(uri, path, line, is_edited=True))

    def record_view(self, uri: str, path: str, line: int) -> None:
        """Remember that the cursor of the user rests on a line."""
        self._add(_Place(uri, path, line, is_edited=False))

    def record_close(self, document: Document) -> None:
        """Store the text of a document that was closed, if the user was there recently."""
        if any(place.uri == document.uri for place in self._places):
            self._closed[document.uri] = document
            self._closed.move_to_end(document.uri)
            while len(self._closed) > MAX_CLOSED_DOCUMENTS:
                self._closed.popitem(last=False)

    def find_pieces(self, document: Document, line: int) -> list[Piece]:
        """Return the pieces that are similar to the lines around a line, the most similar first.

        Pieces that the prompt contains anyway are left out.
        """
        wanted = _read_words(document, max(0, line - RADIUS_LINES), line + RADIUS_LINES)
        scored: list[tuple[float, int, Piece]] = []
        # the check reads from disk: once for a file, not for each of its places
        exclusions = {place.uri: self._exclusion_reason(place.uri, place.path) for place in self._places}
        for age, place in enumerate(self._places):
            text = "" if exclusions[place.uri] else self._read_text(place, document, line)
            words = set(WORD.findall(text))
            similarity = len(words & wanted) / len(words | wanted) if words else 0.0
            if MIN_SIMILARITY <= similarity <= MAX_SIMILARITY:
                scored.append((-similarity, age, Piece(place.path, text, place.is_edited)))
        return [piece for _, _, piece in sorted(scored, key=lambda item: item[:2])]

    def _add(self, new: _Place) -> None:
        neighbours = [
            place for place in self._places if place.uri == new.uri and abs(place.line - new.line) <= RADIUS_LINES
        ]
        # a place that was edited stays edited when the user looks at it
        new.is_edited = new.is_edited or any(place.is_edited for place in neighbours)
        self._places = [new, *(place for place in self._places if place not in neighbours)][:MAX_PLACES]

    def _read_text(self, place: _Place, document: Document, line: int) -> str:
        """Return the lines around a place without lines with secrets, or nothing if the prompt contains them anyway."""
        is_same_document = place.uri == document.uri
        if is_same_document and abs(place.line - line) <= PROMPT_RADIUS_LINES:
            return ""
        target = document if is_same_document else self._find_document(place.uri) or self._closed.get(place.uri)
        if target is None or target.is_binary:
            return ""
        hidden = find_secret_lines(target)
        first, stop = max(0, place.line - RADIUS_LINES), min(len(target.line_starts), place.line + RADIUS_LINES + 1)
        lines = [decode(target.line(n)).rstrip("\r\n") for n in range(first, stop) if n not in hidden]
        return "\n".join(lines).strip("\n")


def _read_words(document: Document, first: int, last: int) -> set[str]:
    lines = range(first, min(len(document.line_starts), last + 1))
    return {word for n in lines for word in WORD.findall(decode(document.line(n)))}
