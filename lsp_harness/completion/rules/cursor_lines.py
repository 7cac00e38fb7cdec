"""The lines on both sides of the cursor, and what the rules need to know about them.

All of it depends on the document and not on the text of the model, so it is computed once for a stream of tokens. Only
a window is read, so that a file with one enormous line costs no more than a screenful.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import LineSyntax, indentation_columns, indentation_of, is_blank, is_lone_closer, to_lf

WINDOW_CHARS = 8000
"""Number of characters on each side that are read. 60 lines are usually much shorter."""
COPIED_LINES = 5
"""Number of consecutive lines that count as a copy. Three equal lines also occur in ordinary boilerplate."""
LINE_BREAK = re.compile(r"[\r\n]")


@dataclass(frozen=True)
class CursorLines:
    """The text before and after the cursor, in lines.

    Attributes:
        prefix: The text before the cursor.
        suffix: The text after the cursor.
        language: The language id.
    """

    prefix: str
    suffix: str
    language: str = ""

    @cached_property
    def syntax(self) -> LineSyntax:
        """The syntax of single lines of the language."""
        return find_language(self.language).lines

    @cached_property
    def lines_above(self) -> list[str]:
        """Whole lines before the cursor's line, in order."""
        return to_lf(self.prefix[-WINDOW_CHARS:]).split("\n")[:-1]

    @cached_property
    def lines_below(self) -> list[str]:
        """Whole lines after the cursor's line, in order."""
        return to_lf(self.suffix[:WINDOW_CHARS]).split("\n")[1:]

    @cached_property
    def line_prefix(self) -> str:
        """The cursor's line, up to the cursor."""
        return LINE_BREAK.split(self.prefix[-WINDOW_CHARS:])[-1]

    @cached_property
    def line_suffix(self) -> str:
        """The cursor's line, from the cursor on."""
        return LINE_BREAK.split(self.suffix[:WINDOW_CHARS], maxsplit=1)[0]

    @cached_property
    def indent(self) -> str:
        """Leading whitespace of the cursor's line, as far as the cursor."""
        return indentation_of(self.line_prefix)

    @cached_property
    def previous_line(self) -> str:
        """The nearest line above that is not blank."""
        return next((line for line in reversed(self.lines_above) if line.strip()), "")

    @cached_property
    def next_line(self) -> str:
        """The nearest line below that is not blank."""
        return next((line for line in self.lines_below if line.strip()), "")

    @cached_property
    def text_lines_below(self) -> list[str]:
        """The lines with text that stand below an insertion.

        The cursor's line counts if its text is after the cursor.
        """
        cursor_line = self.line_prefix + self.line_suffix if is_blank(self.line_prefix) else ""
        return [line for line in (cursor_line, *self.lines_below) if line.strip()]

    @cached_property
    def text_lines_above(self) -> list[str]:
        """The lines above that are neither blank nor only a closing bracket."""
        return [line for line in self.lines_above if line.strip() and not is_lone_closer(line)]

    @cached_property
    def line_runs(self) -> set[tuple[str, ...]]:
        """Each sequence of `COPIED_LINES` consecutive lines of `text_lines_above`."""
        return {
            tuple(self.text_lines_above[index : index + COPIED_LINES])
            for index in range(len(self.text_lines_above) - COPIED_LINES + 1)
        }

    @cached_property
    def indent_unit(self) -> str:
        """One level of indentation in the style of the file."""
        lines = [line for line in (*self.lines_above, self.line_prefix, *self.lines_below) if line.strip()]
        tabs = sum(line[0] == "\t" for line in lines)
        spaces = sum(line.startswith("  ") for line in lines)
        if tabs > spaces or (tabs == spaces and self.syntax.indents_with_tabs):
            return "\t"
        steps: Counter[int] = Counter()
        last_columns = 0
        for line in lines:
            columns = indentation_columns(indentation_of(line))
            # A step of one column, or of more than eight, is the alignment of a comment or a continuation.
            if 1 < columns - last_columns <= 8:
                steps[columns - last_columns] += 1
            last_columns = columns
        return " " * (steps.most_common(1)[0][0] if steps else self.syntax.indent_width)

    @cached_property
    def has_indentation(self) -> bool:
        """Return whether the file shows how it indents. If not, `indent_unit` is a guess."""
        return any(
            line[:1] in ("\t", " ") and line.strip()
            for line in (*self.lines_above, self.line_prefix, *self.lines_below)
        )
