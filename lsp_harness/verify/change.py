"""The overlay every check works on: a text as it is, the text as proposed, and the edits between them.

Nothing here is on disk. A check that reads the file instead of `after` checks the wrong bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply, between

Author = Literal["repair", "linter", "rewrite"]
"""Who made an edit, and so how much it may change: a `repair` of one finding only what the finding is about, a `linter`'s own fix what its rule
is about, a `rewrite` by instruction anything."""


@dataclass(frozen=True)
class Change:
    """A text before and after some edits. `file` is where the text would lie, for tools that choose their settings by it."""

    before: Document
    after: Document
    edits: tuple[Edit, ...]
    file: Path
    root: Path | None = None
    author: Author = "rewrite"

    @classmethod
    def of(
        cls, before: Document, edits: Sequence[Edit], file: Path, root: Path | None = None, author: Author = "rewrite"
    ) -> "Change":
        """The change that some edits of a text make."""
        after = Document.of(before.uri, apply(before.data, edits), language=before.language, version=before.version)
        # as `apply` orders them: what is inserted at one place keeps the order it was given in
        ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
        return cls(before, after, ordered, file, root, author)

    @classmethod
    def between(cls, before: Document, after: Document, file: Path, root: Path | None = None) -> "Change":
        """The change from one text to another."""
        return cls(before, after, tuple(between(before.data, after.data)), file, root)

    @cached_property
    def tree_before(self) -> SyntaxTree | None:
        """The tree of `before`; None for a language without a grammar."""
        return parse(self.before)

    @cached_property
    def tree_after(self) -> SyntaxTree | None:
        """The tree of `after`, parsed from its first byte: after an edit of a broken text an incremental parse may recover otherwise."""
        return parse(self.after)

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
