"""The overlay every check works on: a text as it is, the text as proposed, and the edits between them.

Nothing here is on disk. A check that reads the file instead of `after` checks the wrong bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree, parse_within
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply, line_edits

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
        after = Document.from_text(
            before.uri, apply(before.data, edits), language=before.language, version=before.version
        )
        # as `apply` orders them: what is inserted at one place keeps the order it was given in
        ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
        return cls(before, after, ordered, file, root, author)

    @classmethod
    def between(cls, before: Document, after: Document, file: Path, root: Path | None = None) -> "Change":
        """The change from one text to another."""
        return cls(before, after, tuple(line_edits(before.data, after.data)), file, root)

    @property
    def tree_before(self) -> SyntaxTree | None:
        """The tree of `before`; None for a language without a grammar, and where `costly_before` says why."""
        return self._parsed_before[0]

    @property
    def tree_after(self) -> SyntaxTree | None:
        """The tree of `after`, parsed from its first byte: after an edit of a broken text an incremental parse may recover otherwise."""
        return self._parsed_after[0]

    @property
    def costly_before(self) -> str:
        """Why `before` has no tree although its language has a grammar."""
        return self._parsed_before[1]

    @property
    def costly_after(self) -> str:
        """Why `after` has no tree although its language has a grammar."""
        return self._parsed_after[1]

    @property
    def no_tree(self) -> str:
        """A sentence on why one of the two texts has no tree; empty where both have one."""
        if costly := self.costly_before or self.costly_after:
            return f"the {'text' if self.costly_before else 'new text'} has no syntax tree: {costly}"
        if self.tree_before and self.tree_after:
            return ""
        return f"no grammar for {self.before.language or self.file.suffix or 'this text'}"

    @cached_property
    def _parsed_before(self) -> tuple[SyntaxTree | None, str]:
        return _parsed(self.before)

    @cached_property
    def _parsed_after(self) -> tuple[SyntaxTree | None, str]:
        return _parsed(self.after)

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


def _parsed(document: Document) -> tuple[SyntaxTree | None, str]:
    """The tree of a text, or why making it costs too much."""
    try:
        return parse_within(document, Allowance(BUDGET.text_s)), ""
    except ParseBudgetExceeded as error:
        return None, str(error)
