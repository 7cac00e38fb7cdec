"""Ghost text: the surroundings of a cursor, and the text of the model there.

While tokens arrive, one `Ghost` gives a new one for each longer text by `with_text`, which keeps everything that was
computed about the surroundings.
"""

import copy
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.completion.rules.cursor_lines import CursorLines
from lsp_harness.completion.rules.display_mode import DisplayMode, choose_display_mode
from lsp_harness.text.code_lines import LineSyntax
from lsp_harness.text.position import decode
from lsp_harness.workspace.cursor import Cursor

RULE_LINES = 60
"""Number of lines on each side of the cursor that the rules read."""
RULE_BYTES = 32_000
"""Number of bytes on each side of the cursor that the rules read, for texts with very long lines."""


@dataclass(frozen=True)
class Ghost:
    """A text of the model between the text before and after a cursor.

    Attributes:
        prefix: The text before the cursor.
        suffix: The text after the cursor.
        text: The text of the model, which continues `prefix`.
        mode: The amount of text that may be shown.
        language: The language id.
        newline: The line terminator of the document.
    """

    prefix: str
    suffix: str
    text: str
    mode: DisplayMode
    language: str = ""
    newline: str = "\n"

    def with_text(self, text: str) -> "Ghost":
        """Return a ghost with another text at the same cursor."""
        if text == self.text:
            return self
        # `dataclasses.replace` would lose the cached surroundings.
        ghost = copy.copy(self)
        object.__setattr__(ghost, "text", text)
        return ghost

    @cached_property
    def cursor_lines(self) -> CursorLines:
        return CursorLines(self.prefix, self.suffix, self.language)

    @property
    def syntax(self) -> LineSyntax:
        """The syntax of single lines of the language."""
        return self.cursor_lines.syntax

    @property
    def line_prefix(self) -> str:
        return self.cursor_lines.line_prefix

    @property
    def line_suffix(self) -> str:
        return self.cursor_lines.line_suffix

    @property
    def indent(self) -> str:
        return self.cursor_lines.indent

    @property
    def previous_line(self) -> str:
        return self.cursor_lines.previous_line

    @property
    def next_line(self) -> str:
        return self.cursor_lines.next_line


def ghost_at(cursor: Cursor) -> Ghost:
    """Return the surroundings of a cursor, with no text of a model in them yet."""
    document, offset = cursor.document, cursor.offset
    line = document.line_of(offset)
    start = max(document.line_starts[max(0, line - RULE_LINES)], offset - RULE_BYTES)
    end = (
        document.line_starts[line + RULE_LINES] if line + RULE_LINES < len(document.line_starts) else len(document.data)
    )
    end = min(end, offset + RULE_BYTES)
    prefix, suffix = decode(document.data[start:offset]), decode(document.data[offset:end])
    language = cursor.tree.language.id if cursor.tree else document.language
    return Ghost(prefix, suffix, "", choose_display_mode(prefix, suffix, language), language, document.newline)
