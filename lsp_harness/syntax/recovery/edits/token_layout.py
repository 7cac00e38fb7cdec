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
    before = tokens[gap - 1] if gap else None
    after = tokens[gap] if gap < len(tokens) else None
    left = before.end if before else 0
    right = after.start if after else len(broken_text.data)
    between = broken_text.data[left:right]
    line_end = _find_line_end(between)
    if text in CLOSERS:
        return _closer_edit(broken_text, gap, text, opener)
    if text in SEPARATORS:
        return _separator_edit(broken_text, gap, left, right, text)
    if text in OPENERS:
        if line_end >= 0 and text == b"{":
            rest = between[:line_end]
            position = left + len(rest) if not rest.strip() else left
            return Edit(position, position, text if position > left else b" " + text)
        if between == b" " and text == b"{" and before and (before.kind == "close" or (after and after.first)):
            return Edit(right, right, b"{ ")
        return Edit(right, right, text)
    # operators and words have blanks around them
    if line_end >= 0:
        rest = between[:line_end]
        position = left + len(rest) if not rest.strip() else left
        return Edit(position, position, (b"" if position > left else b" ") + text)
    if len(between) >= 2 and not between.strip():
        return Edit(left + 1, left + 1, text)
    if between:
        return Edit(left, left, b" " + text)
    return Edit(left, left, text)


def _separator_edit(broken_text: BrokenText, gap: int, left: int, right: int, text: bytes) -> Edit:
    between = broken_text.data[left:right]
    if len(between) == 2 and not between.strip(b" "):
        # two blanks instead of one show that the missing token stood between them
        return Edit(left + 1, left + 1, text)
    if text == b":" and b"\n" in between and gap < len(broken_text.tokens):
        question = broken_text.tokens[broken_text.tokens_of_line(gap - 1).start]
        if question.text == b"?":
            # the two values of a conditional expression are on separate lines
            lead = broken_text.line_indentation(broken_text.tokens_of_line(gap - 1).start)
            width = broken_text.indentation_width(gap)
            position = right - width + len(lead) if width > len(lead) else right
            return Edit(position, position, text if position < right else text + b" ")
    return Edit(left, left, text)


def _closer_edit(broken_text: BrokenText, gap: int, text: bytes, opener: int) -> Edit:
    tokens = broken_text.tokens
    before = tokens[gap - 1] if gap else None
    after = tokens[gap] if gap < len(tokens) else None
    left = before.end if before else 0
    right = after.start if after else len(broken_text.data)
    between = broken_text.data[left:right]
    if b"\n" not in between:
        if between == b" " and text == b"}" and before and before.text != b"{" and _padded(broken_text, opener):
            return Edit(left, left, b" " + text)
        if len(between) > 1 and text != b"}" and _padded(broken_text, opener):
            return Edit(left + 1, left + 1, text)
        return _inline_edit(left, right, between, after, text)
    hanging = (
        opener >= 0
        and opener + 1 < len(tokens)
        and (tokens[opener + 1].line > tokens[opener].line or tokens[opener + 1].text == b"|")
    )
    if opener >= 0 and hanging and before is not tokens[opener]:
        lead = broken_text.line_indentation(opener)
        blank = _find_blank_line(between, left, lead)
        if blank >= 0:
            return Edit(blank, blank, text)
        if (
            after
            and after.first
            and (after.kind == "close" or after.text in SEPARATORS or continues_block(after, broken_text.language))
        ):
            return _line_start_edit(broken_text, gap, lead, text)
        return own_line_edit(broken_text, gap, lead, text)
    rest = between[: _find_line_end(between)]
    position = left + len(rest) if rest and not rest.strip() else left
    if text == b"}" and position == left and _padded(broken_text, opener):
        return Edit(left, left, b" " + text)
    return Edit(position, position, text)


def own_line_edit(broken_text: BrokenText, gap: int, lead: bytes, text: bytes) -> Edit:
    """Return the insertion of a token on its own line before the line of the token `gap`.

    A blank line with the same indentation is used if there is one.
    """
    tokens = broken_text.tokens
    left = tokens[gap - 1].end if gap else 0
    right = tokens[gap].start if gap < len(tokens) else len(broken_text.data)
    between = broken_text.data[left:right]
    if (blank := _find_blank_line(between, left, lead)) >= 0:
        return Edit(blank, blank, text)
    line_end = _find_line_end(between)
    position = left + max(line_end, 0)
    return Edit(position, position, broken_text.tree.document.newline.encode() + lead + text)


def _find_line_end(text: bytes) -> int:
    """Return where the first line ends, before its line end. Return -1 if there is only one line."""
    position = text.find(b"\n")
    return position - 1 if position > 0 and text[position - 1 : position] == b"\r" else position


def _inline_edit(left: int, right: int, between: bytes, after: Lexeme | None, text: bytes) -> Edit:
    if len(between) > 1 and not between.strip():
        # two blanks instead of one show that the missing token stood between them
        return Edit(left + 1, left + 1, text)
    if between and after and (after.kind == "close" or after.text in SEPARATORS):
        return Edit(right, right, text)
    return Edit(left, left, text)


def _find_blank_line(between: bytes, left: int, lead: bytes) -> int:
    """Return the end of a blank line with the indentation `lead`, or -1 if there is none."""
    if not lead:
        return -1
    found = re.search(rb"\n%s(?=\r?\n)" % re.escape(lead), between)
    return left + found.end() if found else -1


def _line_start_edit(broken_text: BrokenText, gap: int, lead: bytes, text: bytes) -> Edit:
    """Return the insertion of a token before the first token of a line.

    If the line is indented too far, the token fills the gap.
    """
    after = broken_text.tokens[gap]
    width = broken_text.indentation_width(gap)
    if width > len(lead):
        position = after.start - width + len(lead)
        return Edit(position, position, text)
    return Edit(after.start, after.start, text if after.kind == "close" or after.text in SEPARATORS else text + b" ")


def _padded(broken_text: BrokenText, opener: int) -> bool:
    """Return whether a blank follows an opener, as in `{ a }`."""
    if opener < 0:
        return False
    position = broken_text.tokens[opener].end
    return broken_text.data[position : position + 1] == b" "
