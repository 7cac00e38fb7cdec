"""The subject of every check: the changes of one proposal, one for each document that it edits.

Nothing here is on disk. A check that reads the file instead of `after` checks the wrong bytes.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from lsp_harness.syntax.grammars import advise_grammar
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree, parse_within
from lsp_harness.text.document import BYTE_ORDER_MARK, Document
from lsp_harness.text.edit import Edit, apply, diff, differences, line_edits
from lsp_harness.text.position import Span

Author = Literal["repair", "linter", "rewrite"]
"""The maker of an edit, which decides how much it may change. A `repair` may change only what its finding is about, a
fix of a `linter` what its rule is about, and a `rewrite` by instruction anything."""


@dataclass(frozen=True)
class Change:
    """A text before and after some edits.

    Attributes:
        before: The text as it is.
        after: The proposed text.
        edits: The edits that lead from one to the other, in the order of the text.
        file: The path of the text. Tools choose their settings by it.
        root: The workspace folder, or None if the file lies in none.
        author: The maker of the edits.
    """

    before: Document
    after: Document
    edits: tuple[Edit, ...]
    file: Path
    root: Path | None = None
    author: Author = "rewrite"

    @classmethod
    def from_edits(
        cls, before: Document, edits: Sequence[Edit], file: Path, root: Path | None = None, author: Author = "rewrite"
    ) -> "Change":
        """Return the change that some edits make. The other arguments are the attributes.

        An edit at the start of the text begins behind a byte order mark, so the mark stays.
        """
        if size := before.mark_size:
            edits = [_keep_mark(edit, size) for edit in edits]
        after = Document.from_text(
            before.uri, apply(before.data, edits), language=before.language, version=before.version
        )
        # the same order as in `apply`: insertions at one place keep the order in which they were given
        ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
        return cls(before, after, ordered, file, root, author)

    @classmethod
    def from_documents(cls, before: Document, after: Document, file: Path, root: Path | None = None) -> "Change":
        """Return the change from one text to another. The other arguments are the attributes."""
        return cls(before, after, tuple(line_edits(before.data, after.data)), file, root)

    def with_after(self, data: bytes) -> "Change":
        """Return the change by the same author that leads to another text."""
        after = Document.from_text(self.after.uri, data, language=self.after.language, version=self.after.version)
        edits = tuple(line_edits(self.before.data, data))
        return Change(self.before, after, edits, self.file, self.root, self.author)

    @property
    def start(self) -> int:
        """The first byte that is edited, or 0 if nothing is. Findings about the whole proposal are shown there."""
        return self.edits[0].start if self.edits else 0

    def create_diff(self, path: str) -> str:
        """Return the change as a unified diff, in which a file that does not exist yet has no old name.

        Args:
            path: The path that the diff names.
        """
        is_new = not self.before.data and not os.path.lexists(self.file)
        return diff(self.before.data, self.after.data, path, is_new=is_new)

    @property
    def new_span(self) -> Span:
        """The bytes of `after` from the first edited byte to the last one."""
        kept = len(self.before.data) - (self.edits[-1].end if self.edits else 0)
        return Span(self.start, max(self.start, len(self.after.data) - kept))

    @property
    def new_lines(self) -> frozenset[int]:
        """The lines of `after` that are added or changed, counted from 1."""
        before, after = (text.data.splitlines(keepends=True) for text in (self.before, self.after))
        runs = differences(before, after)
        return frozenset(line + 1 for _, _, start, end in runs for line in range(start, end))

    @property
    def tree_before(self) -> SyntaxTree | None:
        """The tree of `before`, or None if the language has no grammar or the text cannot be parsed in time."""
        return self._parsed_before[0]

    @property
    def tree_after(self) -> SyntaxTree | None:
        """The tree of `after`, or None as for `tree_before`.

        The whole text is parsed: an incremental parse after an edit of a broken text may recover from errors in another
        way.
        """
        return self._parsed_after[0]

    @property
    def parse_failure_before(self) -> str:
        """The reason why `before` has no tree although its language has a grammar, or an empty text."""
        return self._parsed_before[1]

    @property
    def parse_failure_after(self) -> str:
        """The reason why `after` has no tree although its language has a grammar, or an empty text."""
        return self._parsed_after[1]

    @property
    def no_tree_reason(self) -> str:
        """A sentence that says why one of the two texts has no tree, or an empty text if both have one."""
        if reason := self.parse_failure_before or self.parse_failure_after:
            return f"the {'text' if self.parse_failure_before else 'new text'} has no syntax tree: {reason}"
        if self.tree_before and self.tree_after:
            return ""
        name = self.before.language or self.file.suffix or "this text"
        return f"no grammar for {name}{advise_grammar(self.before.language, self.file.name)}"

    @cached_property
    def _parsed_before(self) -> tuple[SyntaxTree | None, str]:
        return _parse(self.before)

    @cached_property
    def _parsed_after(self) -> tuple[SyntaxTree | None, str]:
        return _parse(self.after)

    def touches(self, start: int, end: int) -> bool:
        """Return whether a byte range of `after` overlaps replaced text or lies directly beside it."""
        shift = 0
        for edit in self.edits:
            edit_start = edit.start + shift
            if start <= edit_start + len(edit.new) and end >= edit_start:
                return True
            shift += len(edit.new) - (edit.end - edit.start)
        return False


def _keep_mark(edit: Edit, size: int) -> Edit:
    """Return an edit that leaves the byte order mark of so many bytes as it is."""
    if edit.start >= size:
        return edit
    return Edit(size, max(size, edit.end), edit.new.removeprefix(BYTE_ORDER_MARK))


def _parse(document: Document) -> tuple[SyntaxTree | None, str]:
    """Return the tree of a text, and the reason if parsing costs too much."""
    try:
        return parse_within(document, Allowance(BUDGET.text_s)), ""
    except ParseBudgetExceeded as error:
        return None, str(error)


@dataclass(frozen=True)
class ChangeSet:
    """The changes of one proposal, which are checked, offered and applied together.

    Each change has the text before, with its hash and version, and the text after. The first change is the main one: it
    is about the document of the request, and a check that is about a finding reads only this change.
    """

    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        uris = [change.before.uri for change in self.changes]
        if not uris or len(set(uris)) < len(uris):
            raise ValueError("a change set needs at least one change, and only one for each document")

    @classmethod
    def of(cls, *changes: Change) -> "ChangeSet":
        """Return the set of these changes, the main change first."""
        return cls(changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    @property
    def main(self) -> Change:
        """The change of the document that the request is about."""
        return self.changes[0]

    @property
    def hash(self) -> str:
        """The hash of all texts with their edits. For one document it is the hash of its text."""
        return hash_texts([change.after for change in self.changes])


def hash_texts(documents: Sequence[Document]) -> str:
    """Return the hash of texts. For a single text it is its own hash."""
    if len(documents) == 1:
        return documents[0].hash
    lines = (f"{document.uri} {document.hash}\n" for document in documents)
    return hashlib.blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
