"""Ghost text: the lines around a cursor, how much text may be shown there, and the text of the model.

While tokens arrive, one `Ghost` gives a new one for each longer text by `with_text`, which keeps everything that was
computed about the surroundings.

Small models are good at one statement and soon wrong after it, so the mode is `line` in cases of doubt. `line-above` is
a mode of its own because its text includes the newline.

All of it depends on the document and not on the text of the model, so it is computed once for a stream of tokens. Only
a window is read, so that a file with one enormous line costs no more than a screenful.

The rules judge one place at a time, so each part of such an answer gets its own `Ghost`. It is cached, with everything
that was computed about its surroundings.
"""

import copy
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import (
    LineSyntax,
    indentation_columns,
    indentation_of,
    is_blank,
    is_comment,
    is_lone_closer,
    line_depth,
    opens_block,
    to_lf,
)
from lsp_harness.text.position import decode
from lsp_harness.workspace.cursor import Cursor

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


DisplayMode = Literal["line", "block", "line-above"]

LINE_FRAGMENT = re.compile(r"[)\],;:?.=]|&&|\|\||[-+*/%<>]\s|(?:and|or)\b")
"""The start of a rest of the line that cannot stand alone."""


def choose_display_mode(prefix: str, suffix: str, language: str = "") -> DisplayMode:
    """Return the display mode for a cursor between `prefix` and `suffix`.

    A block is allowed only where a body is missing. It is not allowed wherever a block may still grow, because a third
    of the one-line insertions in real commits are at such places.
    """
    lines = CursorLines(prefix, suffix, language)
    if not is_blank(lines.line_suffix):
        return "line-above" if is_blank(lines.line_prefix) and _is_complete_line(lines) else "line"
    line_above = lines.previous_line if is_blank(lines.line_prefix) else lines.line_prefix
    if opens_block(line_above, lines.syntax):
        has_no_body = not lines.next_line or line_depth(lines.next_line) <= line_depth(line_above)
        return "block" if has_no_body else "line"
    if not _is_block_end(lines):
        return "line"
    # A comment or docstring with nothing below it announces a body that is not written yet.
    return "block" if is_blank(lines.line_prefix) and is_comment(lines.previous_line, lines.syntax) else "line"


def _is_complete_line(lines: CursorLines) -> bool:
    """Return whether the rest of the line can stand alone."""
    is_before_indentation = not lines.line_prefix and lines.line_suffix[0].isspace()
    if is_before_indentation or lines.syntax.is_prose or lines.syntax.is_style_sheet:
        return True
    return LINE_FRAGMENT.match(lines.line_suffix.lstrip()) is None


def _is_block_end(lines: CursorLines) -> bool:
    """Return whether nothing of the cursor's block follows, but a less indented line, a closer or the end of the
    text."""
    return (
        not lines.next_line
        or line_depth(lines.next_line) < line_depth(lines.line_prefix)
        or is_lone_closer(lines.next_line)
    )


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


def find_ghost(cursor: Cursor) -> Ghost:
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


def may_begin_with_newline(ghost: Ghost) -> bool:
    """Return whether an answer may begin with a newline: the line has text, and the rest may move to another line."""
    line_suffix = ghost.line_suffix
    return bool(ghost.line_prefix.strip()) and (not line_suffix.strip() or line_suffix[0].isspace())


def split_next_line(ghost: Ghost, text: str) -> tuple[Ghost, str] | None:
    """Split a text that begins with a newline.

    The line of the cursor is complete then, and the rules judge the rest of the text as a line of its own.

    Returns:
        The ghost of the next line and the rest of the text, or None if the text stays on the line of the cursor.
    """
    blanks, newline, rest = text.partition("\n")
    if ghost.mode != "line" or not newline or blanks.strip() or not may_begin_with_newline(ghost):
        return None
    return _ghost_on_next_line(ghost.with_text("")), rest


def split_body(ghost: Ghost, text: str) -> tuple[Ghost, str] | None:
    """Split a text whose first line opens a block that has no body yet.

    The header alone would be a syntax error above a line of the same depth. With one line of the body it is complete.

    Returns:
        The ghost inside the block and the text of the body, or None if the text opens no block.
    """
    header, newline, body = text.partition("\n")
    line = ghost.line_prefix + header
    if ghost.mode == "block" or not newline or not opens_block(line, ghost.syntax):
        return None
    line_below = ghost.line_suffix if ghost.line_suffix.strip() else ghost.next_line
    if line_below and line_depth(line_below) > line_depth(line):
        return None
    return _ghost_in_block(ghost.with_text(""), header), body


@lru_cache(maxsize=16)
def _ghost_on_next_line(ghost: Ghost) -> Ghost:
    prefix = ghost.prefix + "\n"
    mode = choose_display_mode(prefix, ghost.suffix, ghost.language)
    return Ghost(prefix, ghost.suffix, "", mode, ghost.language, ghost.newline)


@lru_cache(maxsize=16)
def _ghost_in_block(ghost: Ghost, header: str) -> Ghost:
    suffix = ghost.suffix if ghost.suffix.startswith(("\n", "\r")) else "\n" + ghost.suffix
    return Ghost(ghost.prefix + header + "\n", suffix, "", "line", ghost.language, ghost.newline)


def join_body(header: str, body: str | None, ghost: Ghost) -> str:
    """Return the header and the body of a block as one text, which ends like the header."""
    if not body:
        return header
    end = ghost.newline if header.endswith(("\n", "\r")) else ""
    return header.rstrip("\r\n") + ghost.newline + body + end
