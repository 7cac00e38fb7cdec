"""The amount of text that may be shown at a cursor: one line, a block, or a whole line above the present one.

Small models are good at one statement and soon wrong after it, so the mode is `line` in cases of doubt. `line-above` is
a mode of its own because its text includes the newline.
"""

import re
from typing import Literal

from lsp_harness.completion.rules.cursor_lines import CursorLines
from lsp_harness.text.code_lines import is_blank, is_comment, is_lone_closer, line_depth, opens_block

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
