"""Texts and changes of texts as clients send them, read from plain JSON.

A message is accepted if it says clearly what the text is: also without a version or a language, with a range of null,
or with a column beyond the end of all lines. Any other message is refused as a whole. All functions raise UsageError.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.server.json_value import value_at
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, encode


@dataclass(frozen=True, slots=True)
class TextChange:
    """The new text of a range. Without `start` and `end` it is the new text of the whole document."""

    text: str
    start: Position | None = None
    end: Position | None = None

    def to_edit(self, document: Document, encoding: Encoding) -> Edit:
        """Convert the change to byte offsets. A reversed range is put in order."""
        if self.start is None or self.end is None:
            return Edit(0, len(document.data), encode(self.text))
        start, end = document.offset(self.start, encoding), document.offset(self.end, encoding)
        return Edit(min(start, end), max(start, end), encode(self.text))


def document_uri(method: str, params: Any) -> str:
    """Return the URI of the document that a notification is about."""
    uri = value_at(params, "textDocument.uri")
    if not isinstance(uri, str):
        raise UsageError(f"{method} names no document: textDocument.uri must be a string")
    return uri


def document_version(params: Any) -> int | None:
    """Return the number that the client gives to the text after a notification, or None if it gives none."""
    version = value_at(params, "textDocument.version")
    return int(version) if _is_integer(version) else None


def read_document(uri: str, params: Any) -> Document:
    """Return the document that `textDocument/didOpen` opens."""
    item = value_at(params, "textDocument")
    text, language = value_at(item, "text"), value_at(item, "languageId")
    if not isinstance(text, str):
        raise UsageError("textDocument.text must be a string")
    return Document.from_text(
        uri, text, language=language if isinstance(language, str) else "", version=document_version(params) or 0
    )


def read_changes(params: Any) -> list[TextChange]:
    """Return all changes of `textDocument/didChange`, in order."""
    raw_changes = value_at(params, "contentChanges")
    if not isinstance(raw_changes, list):
        raise UsageError("contentChanges must be an array")
    return [_read_change(f"contentChanges[{n}]", raw) for n, raw in enumerate(cast("list[Any]", raw_changes))]


def _read_change(name: str, raw: Any) -> TextChange:
    text, raw_range = value_at(raw, "text"), value_at(raw, "range")
    if not isinstance(text, str):
        raise UsageError(f"{name}.text must be a string")
    if raw_range is None:
        return TextChange(text)
    start = _read_position(f"{name}.range.start", value_at(raw_range, "start"))
    return TextChange(text, start, _read_position(f"{name}.range.end", value_at(raw_range, "end")))


def _read_position(name: str, raw: Any) -> Position:
    line, character = value_at(raw, "line"), value_at(raw, "character")
    if not (_is_integer(line) and _is_integer(character) and line >= 0 and character >= 0):
        raise UsageError(f"{name} must be a position")
    return Position(int(line), int(character))


def _is_integer(number: Any) -> bool:
    """Return whether a value is an integer. Editors in JavaScript also send 1.0 and `Number.MAX_VALUE`."""
    if isinstance(number, float):
        return math.isfinite(number) and number.is_integer()
    return isinstance(number, int) and not isinstance(number, bool)
