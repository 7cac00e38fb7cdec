"""The exact place of an inserted token between two others: the line and the blanks around it."""

import re

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, Lexeme
from lsp_harness.syntax.recovery.blocks import continues_block
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.text.edit import Edit

SEPARATORS = frozenset({b",", b";", b":"})


def insertion_edit(broken_text: BrokenText, gap: int, text: bytes, opener: int = -1) -> Edit:
    """Return the insertion of a token before the token `gap`.

    Args:
        broken_text: The text.
        gap: The index of the token after the inserted one.
        text: The inserted token.
        opener: The index of the bracket that the token closes, or -1.
    """
    tokens = broken_text.tokens
    previous_token = tokens[gap - 1] if gap else None
    next_token = tokens[gap] if gap < len(tokens) else None
    gap_start = previous_token.end if previous_token else 0
    gap_end = next_token.start if next_token else len(broken_text.data)
    gap_text = broken_text.data[gap_start:gap_end]
    line_end = _find_line_end(gap_text)
    if text in CLOSERS:
        return _closer_edit(broken_text, gap, text, opener)
    if text in SEPARATORS:
        return _separator_edit(broken_text, gap, gap_start, gap_end, text)
    if text in OPENERS:
        if line_end >= 0 and text == b"{":
            rest = gap_text[:line_end]
            position = gap_start + len(rest) if not rest.strip() else gap_start
            return Edit(position, position, text if position > gap_start else b" " + text)
        if (
            gap_text == b" "
            and text == b"{"
            and previous_token
            and (previous_token.kind == "close" or (next_token and next_token.starts_line))
        ):
            return Edit(gap_end, gap_end, b"{ ")
        return Edit(gap_end, gap_end, text)
    # operators and words have blanks around them
    if line_end >= 0:
        rest = gap_text[:line_end]
        position = gap_start + len(rest) if not rest.strip() else gap_start
        return Edit(position, position, (b"" if position > gap_start else b" ") + text)
    if len(gap_text) >= 2 and not gap_text.strip():
        return Edit(gap_start + 1, gap_start + 1, text)
    if gap_text:
        return Edit(gap_start, gap_start, b" " + text)
    return Edit(gap_start, gap_start, text)


def _separator_edit(broken_text: BrokenText, gap: int, gap_start: int, gap_end: int, text: bytes) -> Edit:
    gap_text = broken_text.data[gap_start:gap_end]
    if len(gap_text) == 2 and not gap_text.strip(b" "):
        # two blanks instead of one show that the missing token stood between them
        return Edit(gap_start + 1, gap_start + 1, text)
    if text == b":" and b"\n" in gap_text and gap < len(broken_text.tokens):
        question = broken_text.tokens[broken_text.tokens_of_line(gap - 1).start]
        if question.text == b"?":
            # the two values of a conditional expression are on separate lines
            indentation = broken_text.line_indentation(broken_text.tokens_of_line(gap - 1).start)
            width = broken_text.indentation_width(gap)
            position = gap_end - width + len(indentation) if width > len(indentation) else gap_end
            return Edit(position, position, text if position < gap_end else text + b" ")
    return Edit(gap_start, gap_start, text)


def _closer_edit(broken_text: BrokenText, gap: int, text: bytes, opener: int) -> Edit:
    tokens = broken_text.tokens
    previous_token = tokens[gap - 1] if gap else None
    next_token = tokens[gap] if gap < len(tokens) else None
    gap_start = previous_token.end if previous_token else 0
    gap_end = next_token.start if next_token else len(broken_text.data)
    gap_text = broken_text.data[gap_start:gap_end]
    if b"\n" not in gap_text:
        if (
            gap_text == b" "
            and text == b"}"
            and previous_token
            and previous_token.text != b"{"
            and _is_padded(broken_text, opener)
        ):
            return Edit(gap_start, gap_start, b" " + text)
        if len(gap_text) > 1 and text != b"}" and _is_padded(broken_text, opener):
            return Edit(gap_start + 1, gap_start + 1, text)
        return _inline_edit(gap_start, gap_end, gap_text, next_token, text)
    is_hanging = (
        opener >= 0
        and opener + 1 < len(tokens)
        and (tokens[opener + 1].line > tokens[opener].line or tokens[opener + 1].text == b"|")
    )
    if opener >= 0 and is_hanging and previous_token is not tokens[opener]:
        indentation = broken_text.line_indentation(opener)
        blank = _find_blank_line(gap_text, gap_start, indentation)
        if blank >= 0:
            return Edit(blank, blank, text)
        if (
            next_token
            and next_token.starts_line
            and (
                next_token.kind == "close"
                or next_token.text in SEPARATORS
                or continues_block(next_token, broken_text.language)
            )
        ):
            return _line_start_edit(broken_text, gap, indentation, text)
        return own_line_edit(broken_text, gap, indentation, text)
    rest = gap_text[: _find_line_end(gap_text)]
    position = gap_start + len(rest) if rest and not rest.strip() else gap_start
    if text == b"}" and position == gap_start and _is_padded(broken_text, opener):
        return Edit(gap_start, gap_start, b" " + text)
    return Edit(position, position, text)


def own_line_edit(broken_text: BrokenText, gap: int, indentation: bytes, text: bytes) -> Edit:
    """Return the insertion of a token on its own line before the line of the token `gap`.

    A blank line with the same indentation is used if there is one.
    """
    tokens = broken_text.tokens
    gap_start = tokens[gap - 1].end if gap else 0
    gap_end = tokens[gap].start if gap < len(tokens) else len(broken_text.data)
    gap_text = broken_text.data[gap_start:gap_end]
    if (blank := _find_blank_line(gap_text, gap_start, indentation)) >= 0:
        return Edit(blank, blank, text)
    line_end = _find_line_end(gap_text)
    position = gap_start + max(line_end, 0)
    return Edit(position, position, broken_text.tree.document.newline.encode() + indentation + text)


def _find_line_end(text: bytes) -> int:
    """Return where the first line ends, before its line end. Return -1 if there is only one line."""
    position = text.find(b"\n")
    return position - 1 if position > 0 and text[position - 1 : position] == b"\r" else position


def _inline_edit(gap_start: int, gap_end: int, gap_text: bytes, next_token: Lexeme | None, text: bytes) -> Edit:
    if len(gap_text) > 1 and not gap_text.strip():
        # two blanks instead of one show that the missing token stood between them
        return Edit(gap_start + 1, gap_start + 1, text)
    if gap_text and next_token and (next_token.kind == "close" or next_token.text in SEPARATORS):
        return Edit(gap_end, gap_end, text)
    return Edit(gap_start, gap_start, text)


def _find_blank_line(gap_text: bytes, gap_start: int, indentation: bytes) -> int:
    """Return the end of a blank line with the indentation `lead`, or -1 if there is none."""
    if not indentation:
        return -1
    match = re.search(rb"\n%s(?=\r?\n)" % re.escape(indentation), gap_text)
    return gap_start + match.end() if match else -1


def _line_start_edit(broken_text: BrokenText, gap: int, indentation: bytes, text: bytes) -> Edit:
    """Return the insertion of a token before the first token of a line.

    If the line is indented too far, the token fills the gap.
    """
    next_token = broken_text.tokens[gap]
    width = broken_text.indentation_width(gap)
    if width > len(indentation):
        position = next_token.start - width + len(indentation)
        return Edit(position, position, text)
    return Edit(
        next_token.start,
        next_token.start,
        text if next_token.kind == "close" or next_token.text in SEPARATORS else text + b" ",
    )


def _is_padded(broken_text: BrokenText, opener: int) -> bool:
    """Return whether a blank follows an opener, as in `{ a }`."""
    if opener < 0:
        return False
    position = broken_text.tokens[opener].end
    return broken_text.data[position : position + 1] == b" "
