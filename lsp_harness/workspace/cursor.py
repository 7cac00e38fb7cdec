"""A place in one version of a document, about which a request asks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

if TYPE_CHECKING:
    from lsp_harness.syntax.tree import SyntaxTree


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in one version of a document, with the syntax tree of that version.

    Attributes:
        document: The version of the document, frozen when the request arrived.
        tree: The syntax tree of that version, or None if the text has none.
        offset: The place, in bytes from the start of the document.
        path: The path that prompts name: relative to the workspace folder if the file lies in one.
        persist: Whether the engine may write its cache of this document to disk.
    """

    document: Document
    tree: "SyntaxTree | None"
    offset: int
    path: str
    persist: bool = False

    def is_same_place(self, other: "Cursor") -> bool:
        """Return whether this is the same place in the same text."""
        return self.offset == other.offset and self.document.data == other.document.data

    def follows(self, other: "Cursor") -> bool:
        """Return whether the user only typed text at `other` to arrive here, or did not move."""
        data, other_data = self.document.data, other.document.data
        return (
            self.offset >= other.offset
            and data[: other.offset] == other_data[: other.offset]
            and data[self.offset :] == other_data[other.offset :]
        )

    def resting_place(self, *, appends: bool) -> "Cursor":
        """Return the place to prepare a completion for while the user does not type.

        At the end of a line this is a new line below, because Enter is often the next key. Everywhere else it is this
        place. The new line has the deeper indentation of this line and the next; if the editor indents differently,
        only the blanks are evaluated again.

        Args:
            appends: Whether the model's prompt ends with the text before the cursor. Only then does the prompt of the
                new line begin with the prompt of this place, so that one evaluation serves both.
        """
        data, offset = self.document.data, self.offset
        is_line_end = offset == len(data) or data[offset : offset + 1] in (b"\r", b"\n")
        text_before = data[max(0, offset - 1) : offset].strip()
        if not (appends and is_line_end and text_before):
            return self
        line = self.document.line_of(offset)
        return self.move_past(self.document.newline + max(self._indent(line), self._indent(line + 1), key=len))

    def _indent(self, line: int) -> str:
        """Return the indentation of a line, or nothing if the line has no text."""
        text = decode(self.document.line(line)) if line < len(self.document.line_starts) else ""
        return text[: len(text) - len(text.lstrip())] if text.strip() else ""

    def move_past(self, text: str) -> "Cursor":
        """Return the cursor behind `text`, as if the user had accepted it here."""
        edit = Edit(self.offset, self.offset, encode(text))
        document = self.document.apply_edit(edit, self.document.version)
        tree = self.tree.update(self.document, edit, document, Allowance(BUDGET.gate_s)) if self.tree else None
        return Cursor(document, tree, self.offset + len(edit.new), self.path, self.persist)
