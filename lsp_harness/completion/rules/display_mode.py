"""How much may be shown at this cursor: one line, several, or one whole line above the present one.

Small models are good at one statement and go wrong soon after it, so `line` is the answer wherever in doubt. Where a
line is inserted above another, the text also carries the newline, which is why that is a mode of its own.
"""

import re
from typing import Literal

from lsp_harness.completion.rules.cursor_lines import Around
from lsp_harness.text.code_lines import is_blank, is_comment, is_lone_closer, line_depth, opens_block

Mode = Literal["line", "block", "line-above"]

# a rest of the line that only makes sense as the end of what is typed in front of it
FRAGMENT = re.compile(r"[)\],;:?.=]|&&|\|\||[-+*/%<>]\s|(?:and|or)\b")


def choose(prefix: str, suffix: str, language: str = "", *, generous: bool = False) -> Mode:
    """The mode for a cursor between `prefix` and `suffix`.

    Several lines are allowed where a body is missing. `generous` allows them wherever the block may still grow, that
    is where nothing of it follows: of the one-line holes in real commits a third are such places, so it is off.
    """
    at = Around(prefix, suffix, language)
    if not is_blank(at.line_suffix):
        return "line-above" if is_blank(at.line_prefix) and _complete(at) else "line"
    above = at.previous if is_blank(at.line_prefix) else at.line_prefix
    if opens_block(above, at.syntax):
        bodiless = not at.next or line_depth(at.next) <= line_depth(above)
        return "block" if bodiless else "line"
    if not _open_ended(at):
        return "line"
    # a comment or docstring with nothing below it announces a body that is still to be written
    return "block" if generous or (is_blank(at.line_prefix) and is_comment(at.previous, at.syntax)) else "line"


def _complete(at: Around) -> bool:
    """Whether the rest of the line can stand alone; before its indentation the cursor is before all of it."""
    if (not at.line_prefix and at.line_suffix[0].isspace()) or at.syntax.is_prose or at.syntax.is_style_sheet:
        return True
    return FRAGMENT.match(at.line_suffix.lstrip()) is None


def _open_ended(at: Around) -> bool:
    """Nothing of the cursor's block follows: a line further out, only closers, or the end of the text."""
    return not at.next or line_depth(at.next) < line_depth(at.line_prefix) or is_lone_closer(at.next)
