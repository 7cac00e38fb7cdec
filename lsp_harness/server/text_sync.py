"""Texts and changes of texts as clients send them, read from plain JSON.

Whatever says clearly what the text is by now is taken: without a version or a language, with a range of null, or with a column that is a
number beyond all lines. What does not is refused as a whole.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.server.client_capabilities import at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, encode


@dataclass(frozen=True, slots=True)
class Change:
    """A text in place of a range, or of the whole document where `start` and `end` are None."""

    text: str
    start: Position | None = None
    end: Position | None = None

    def edit(self, document: Document, encoding: Encoding) -> Edit:
        """In bytes of the document, in order even where the client's positions are not."""
        if self.start is None or self.end is None:
            return Edit(0, len(document.data), encode(self.text))
        start, end = document.offset(self.start, encoding), document.offset(self.end, encoding)
        return Edit(min(start, end), max(start, end), encode(self.text))


def uri_of(method: str, params: Any) -> str:
    """The document that a notification is about. Raises UsageError."""
    uri = at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{method} names no document: textDocument.uri must be a string")
    return uri


def version_of(params: Any) -> int | None:
    """What the client calls the text that a notification leads to; None where it does not say."""
    version = at(params, "textDocument.version")
    return int(version) if _whole(version) else None


def opened(uri: str, params: Any) -> Document:
    """The document that is opened. Raises UsageError."""
    item = at(params, "textDocument")
    text, language = at(item, "text"), at(item, "languageId")
    if not isinstance(text, str):
        raise UsageError("textDocument.text must be a string")
    return Document.from_text(
        uri, text, language=language if isinstance(language, str) else "", version=version_of(params) or 0
    )


def changes(params: Any) -> list[Change]:
    """All changes of a notification, in order. Raises UsageError where one of them is none."""
    found = at(params, "contentChanges")
    if not isinstance(found, list):
        raise UsageError("contentChanges must be an array")
    return [_change(f"contentChanges[{n}]", one) for n, one in enumerate(cast("list[Any]", found))]


def _change(name: str, change: Any) -> Change:
    text, place = at(change, "text"), at(change, "range")
    if not isinstance(text, str):
        raise UsageError(f"{name}.text must be a string")
    if place is None:
        return Change(text)
    return Change(text, _position(f"{name}.range.start", place, "start"), _position(f"{name}.range.end", place, "end"))


def _position(name: str, place: Any, end: str) -> Position:
    line, character = at(place, f"{end}.line"), at(place, f"{end}.character")
    if not (_whole(line) and _whole(character) and line >= 0 and character >= 0):
        raise UsageError(f"{name} must be a position")
    return Position(int(line), int(character))


def _whole(number: Any) -> bool:
    """Whether a value is an integer; editors written in JavaScript also send 1.0, and the largest number that there is."""
    if isinstance(number, float):
        return math.isfinite(number) and number.is_integer()
    return isinstance(number, int) and not isinstance(number, bool)
