"""The latest edit of one document, and the places where its user rejected a suggestion."""

from dataclasses import dataclass, replace

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, common_prefix_length
from lsp_harness.text.position import decode
from lsp_harness.workspace.typed_text import TypingRhythm

MAX_CHANGED_LETTERS = 2


@dataclass(frozen=True, slots=True)
class RejectedPlace:
    """A cursor at which a suggestion was rejected.

    Attributes:
        line_start: Byte offset at which the line starts.
        line_text: The text before the cursor on that line.
    """

    line_start: int
    line_text: bytes

    @classmethod
    def at(cls, document: Document, offset: int) -> "RejectedPlace":
        """Return the place of a byte offset."""
        line_start = document.line_starts[document.line_of(offset)]
        return cls(line_start, document.data[line_start:offset])

    def covers(self, document: Document, offset: int) -> bool:
        """Return whether a cursor is still at this place."""
        line_start = document.line_starts[document.line_of(offset)]
        if line_start != self.line_start:
            return False
        return _is_same_thought(decode(self.line_text), decode(document.data[line_start:offset]))

    def shift(self, edit: Edit) -> "RejectedPlace | None":
        """Return this place in the text after `edit`, or None if the edit removed its line."""
        start, end, new_bytes = edit
        line = self.line_start
        if start > line or (start == end == line and not new_bytes.endswith((b"\n", b"\r"))):
            return self
        if end < line or (end == line and new_bytes.endswith((b"\n", b"\r"))):
            return replace(self, line_start=line + len(new_bytes) - (end - start))
        # the line now starts elsewhere, or is another line
        return self if start == line else None


def _is_same_thought(old_text: str, new_text: str) -> bool:
    if old_text == new_text:
        return True
    if not old_text.strip() and not new_text.strip():
        # an empty line has nothing but its indentation: another indentation is another place
        return False
    common_length = common_prefix_length(old_text, new_text)
    changed_letters = "".join((old_text[common_length:] + new_text[common_length:]).split())
    return len(changed_letters) <= MAX_CHANGED_LETTERS and all(
        char.isalnum() or char == "_" for char in changed_letters
    )


MAX_REJECTED_PLACES = 32
"""Number of rejected places that are remembered in a document."""


@dataclass(frozen=True, slots=True)
class VersionChange:
    """All edits that led to one version of a document, taken together.

    Attributes:
        version: The version they led to.
        start: The byte offset of the last edit.
        removed: Removed bytes, without the indentation of a line.
        inserted: Inserted bytes.
        time_s: The time of the first edit on the clock of the typing rhythm.
    """

    version: int
    start: int
    removed: int
    inserted: int
    time_s: float = 0.0

    @property
    def is_deletion(self) -> bool:
        return self.removed > 0 and not self.inserted


class EditHistory:
    """The last change of one open document, and the places where the user rejected a suggestion.

    Attributes:
        rhythm: How fast the user types, in all documents together.
        last_change: The latest change, or None if there was none since the document was opened.
        last_edit: The latest edit, without the bytes that it left as they were. None if there was none.
        rejected: The places where the user rejected a suggestion, in the present text.
    """

    def __init__(self, rhythm: TypingRhythm) -> None:
        self.rhythm = rhythm
        self.last_change: VersionChange | None = None
        self.last_edit: Edit | None = None
        self.rejected_places: tuple[RejectedPlace, ...] = ()

    def add(self, before: Document, edit: Edit, after: Document) -> None:
        """Record that `edit` turned `before` into `after`."""
        time_s = self.rhythm.clock()
        self.last_edit = edit = trim(before.data, edit)
        removed, inserted = edit.end - edit.start, len(edit.new)
        if not removed and not inserted:
            return
        if _removes_indentation(before.data, edit):
            removed = 0
        last_change = self.last_change
        if last_change and last_change.version == after.version:
            # editors remove blanks, or insert brackets, with the same key
            self.last_change = replace(
                last_change,
                start=edit.start,
                removed=last_change.removed + removed,
                inserted=last_change.inserted + inserted,
            )
        else:
            self.last_change = VersionChange(after.version, edit.start, removed, inserted, time_s)
            self.rhythm.add(time_s, edit)
        self.rejected_places = tuple(
            place for rejected_place in self.rejected_places if (place := rejected_place.shift(edit))
        )

    def reject(self, place: RejectedPlace) -> None:
        """Record that the user does not want the suggestion at a place of the present text."""
        other_places = (other_place for other_place in self.rejected_places if other_place != place)
        self.rejected_places = (*other_places, place)[-MAX_REJECTED_PLACES:]


def _removes_indentation(data: bytes, edit: Edit) -> bool:
    """Return whether the edit only removes blanks at the start of a line: its user goes on further out."""
    line = data.rfind(b"\n", 0, edit.start) + 1
    removed_bytes = data[line : edit.end]
    return not edit.new and not removed_bytes.strip(b" \t")


def trim(data: bytes, edit: Edit) -> Edit:
    """Return an edit without the bytes that it leaves as they were. Some clients send the whole line for one key."""
    start, end, new_bytes = edit
    if start == end or not new_bytes:
        return edit
    old_bytes = data[start:end]
    head = common_prefix_length(old_bytes, new_bytes)
    tail = common_prefix_length(old_bytes[head:][::-1], new_bytes[head:][::-1])
    return Edit(start + head, end - tail, new_bytes[head : len(new_bytes) - tail])
