"""Places where the user took a suggestion off the screen, followed through what they type.

A place is a line and the text before the cursor on it. It is the same place while that text differs in no more than two
letters: one or two keys later people are still at the thought they were at when they said no, and what flickers back then
is the very text they refused. Three letters say which word it is instead; a blank says nothing, and anything else (a dot,
a bracket, a new line) begins something new at once.
"""

from dataclasses import dataclass, replace

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, common_prefix_length
from lsp_harness.text.position import decode

LETTERS = 2


@dataclass(frozen=True, slots=True)
class Dismissed:
    """`line` is where its line begins, `before` the text before the cursor on it."""

    line: int
    before: bytes

    @classmethod
    def at(cls, document: Document, offset: int) -> "Dismissed":
        line = document.line_starts[document.line_of(offset)]
        return cls(line, document.data[line:offset])

    def covers(self, document: Document, offset: int) -> bool:
        """Whether the cursor is still at this place."""
        line = document.line_starts[document.line_of(offset)]
        return line == self.line and _alike(decode(self.before), decode(document.data[line:offset]))

    def after(self, edit: Edit) -> "Dismissed | None":
        """This place in the text with `edit` applied; None where its line is gone."""
        start, end, new = edit
        if start > self.line or (start == end == self.line and not new.endswith((b"\n", b"\r"))):
            return self
        if end < self.line or (end == self.line and new.endswith((b"\n", b"\r"))):
            return replace(self, line=self.line + len(new) - (end - start))
        # the line now begins elsewhere, or is another
        return self if start == self.line else None


def _alike(then: str, now: str) -> bool:
    if then == now:
        return True
    if not then.strip() and not now.strip():
        # of an empty line the indentation is all there is: further in or out is another place
        return False
    same = common_prefix_length(then, now)
    changed = "".join((then[same:] + now[same:]).split())
    return len(changed) <= LETTERS and all(char.isalnum() or char == "_" for char in changed)
