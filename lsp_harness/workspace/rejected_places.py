"""Places where the user rejected a suggestion, followed through later edits.

A place is a line and the text before the cursor on it. It is the same place while that text differs by at most
`MAX_CHANGED_LETTERS` letters, because after one or two keys a suggestion would be the rejected text again. Three
letters show that the user writes another word. Blanks do not count. Any other character (a dot, a bracket, a new line)
begins another place at once.
"""

from dataclasses import dataclass, replace

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, common_prefix_length
from lsp_harness.text.position import decode

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
