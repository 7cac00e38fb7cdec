"""The text on both sides of the cursor, cut into lines once and asked many questions.

Everything here depends on the document only, never on what the model wrote, so one value serves a whole stream of
tokens. Only a window is looked at: a file of one enormous line must not cost more than a screenful.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import LineSyntax, indentation_columns, indentation_of, is_blank, is_lone_closer, to_lf

WINDOW = 8000  # characters each side; some 60 lines are far less
RUN = 5  # lines in a row that are a copy; three recur in honest boilerplate
BREAK = re.compile(r"[\r\n]")


@dataclass(frozen=True)
class Around:
    """Document text before and after the cursor."""

    prefix: str
    suffix: str
    language: str = ""

    @cached_property
    def syntax(self) -> LineSyntax:
        """The syntax of single lines of the language."""
        return find_language(self.language).lines

    @cached_property
    def above(self) -> list[str]:
        """Whole lines before the cursor's line, in order."""
        return to_lf(self.prefix[-WINDOW:]).split("\n")[:-1]

    @cached_property
    def below(self) -> list[str]:
        """Whole lines after the cursor's line, in order."""
        return to_lf(self.suffix[:WINDOW]).split("\n")[1:]

    @cached_property
    def line_prefix(self) -> str:
        """The cursor's line, up to the cursor."""
        return BREAK.split(self.prefix[-WINDOW:])[-1]

    @cached_property
    def line_suffix(self) -> str:
        """The cursor's line, from the cursor on."""
        return BREAK.split(self.suffix[:WINDOW], maxsplit=1)[0]

    @cached_property
    def indent(self) -> str:
        """Leading whitespace of the cursor's line, as far as the cursor."""
        return indentation_of(self.line_prefix)

    @cached_property
    def previous(self) -> str:
        """The nearest line above that is not blank."""
        return next((line for line in reversed(self.above) if line.strip()), "")

    @cached_property
    def next(self) -> str:
        """The nearest line below that is not blank."""
        return next((line for line in self.below if line.strip()), "")

    @cached_property
    def lines_below(self) -> list[str]:
        """Lines with something on them that end up below an insertion; the cursor's own too, if it starts there."""
        own = self.line_prefix + self.line_suffix if is_blank(self.line_prefix) else ""
        return [line for line in (own, *self.below) if line.strip()]

    @cached_property
    def said(self) -> list[str]:
        """Lines above that say something."""
        return [line for line in self.above if line.strip() and not is_lone_closer(line)]

    @cached_property
    def runs(self) -> set[tuple[str, ...]]:
        """Every `RUN` of them in a row."""
        return {tuple(self.said[at : at + RUN]) for at in range(len(self.said) - RUN + 1)}

    @cached_property
    def unit(self) -> str:
        """One level of indentation as this file writes it."""
        lines = [line for line in (*self.above, self.line_prefix, *self.below) if line.strip()]
        tabs = sum(line[0] == "\t" for line in lines)
        spaces = sum(line.startswith("  ") for line in lines)
        if tabs > spaces or (tabs == spaces and self.syntax.indents_with_tabs):
            return "\t"
        steps: Counter[int] = Counter()
        last = 0
        for line in lines:
            now = indentation_columns(indentation_of(line))
            # one column is a comment's or a continuation's alignment, more than eight is one too
            if 1 < now - last <= 8:
                steps[now - last] += 1
            last = now
        return " " * (steps.most_common(1)[0][0] if steps else self.syntax.indent_width)

    @cached_property
    def styled(self) -> bool:
        """Whether the file itself shows how it indents, or `unit` is a guess."""
        return any(line[:1] in ("\t", " ") and line.strip() for line in (*self.above, self.line_prefix, *self.below))
