"""The overlay every check works on: a text as it is, the text as proposed, and the edits between them.

Nothing here is on disk. A check that reads the file instead of `after` checks the wrong bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply, between


@dataclass(frozen=True, slots=True)
class Change:
    """`file` is where the text would lie, for tools that choose their settings by it."""

    before: Document
    after: Document
    edits: tuple[Edit, ...]
    file: Path
    root: Path | None = None

    @classmethod
    def of(cls, before: Document, edits: Sequence[Edit], file: Path, root: Path | None = None) -> "Change":
        after = Document.of(before.uri, apply(before.data, edits), language=before.language, version=before.version)
        # as `apply` orders them: what is inserted at one place keeps the order it was given in
        ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
        return cls(before, after, ordered, file, root)

    @classmethod
    def between(cls, before: Document, after: Document, file: Path, root: Path | None = None) -> "Change":
        return cls(before, after, tuple(between(before.data, after.data)), file, root)

    def moved(self, offset: int) -> int | None:
        """Where an offset of `before` is in `after`; None if it was replaced."""
        shift = 0
        for edit in self.edits:
            if offset < edit.start:
                break
            if offset < edit.end:
                return None
            shift += len(edit.new) - (edit.end - edit.start)
        return offset + shift

    def touched(self, start: int, end: int) -> bool:
        """Whether a range of `after` lies in or beside replaced text."""
        shift = 0
        for edit in self.edits:
            at = edit.start + shift
            if start <= at + len(edit.new) and end >= at:
                return True
            shift += len(edit.new) - (edit.end - edit.start)
        return False
