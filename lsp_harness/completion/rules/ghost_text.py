"""One suggestion on its way to the screen: the cursor's surroundings and what the model wrote there.

While tokens stream in, make one `Ghost` and ask for it `having` each new text: whatever was worked out about the
surroundings is kept.
"""

import copy
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.completion.rules.cursor_lines import Around
from lsp_harness.completion.rules.display_mode import Mode, choose
from lsp_harness.text.code_lines import LineSyntax
from lsp_harness.text.position import decode
from lsp_harness.workspace.cursor import Cursor

RULE_LINES = 60
"""Number of lines on each side of the cursor that the rules read."""
RULE_BYTES = 32_000
"""Number of bytes on each side of the cursor that the rules read, for texts with very long lines."""


@dataclass(frozen=True)
class Ghost:
    """`text` continues `prefix`; `newline` is the terminator the document uses."""

    prefix: str
    suffix: str
    text: str
    mode: Mode
    language: str = ""
    newline: str = "\n"

    def having(self, text: str) -> "Ghost":
        if text == self.text:
            return self
        # not dataclasses.replace, which would forget the cached surroundings
        other = copy.copy(self)
        object.__setattr__(other, "text", text)
        return other

    @cached_property
    def around(self) -> Around:
        return Around(self.prefix, self.suffix, self.language)

    @property
    def syntax(self) -> LineSyntax:
        """The syntax of single lines of the language."""
        return self.around.syntax

    @property
    def line_prefix(self) -> str:
        return self.around.line_prefix

    @property
    def line_suffix(self) -> str:
        return self.around.line_suffix

    @property
    def indent(self) -> str:
        return self.around.indent

    @property
    def previous(self) -> str:
        return self.around.previous

    @property
    def next(self) -> str:
        return self.around.next


def ghost_at(cursor: Cursor) -> Ghost:
    """Return the surroundings of a cursor, with no text of a model in them yet."""
    document, offset = cursor.document, cursor.offset
    line = document.line_of(offset)
    first = max(document.line_starts[max(0, line - RULE_LINES)], offset - RULE_BYTES)
    last = (
        document.line_starts[line + RULE_LINES] if line + RULE_LINES < len(document.line_starts) else len(document.data)
    )
    last = min(last, offset + RULE_BYTES)
    prefix, suffix = decode(document.data[first:offset]), decode(document.data[offset:last])
    language = cursor.tree.language.id if cursor.tree else document.language
    return Ghost(prefix, suffix, "", choose(prefix, suffix, language), language, document.newline)
