"""Where exactly a token is written between two others: next to which, on which line, with which blanks around it."""

import re

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, Lexeme
from lsp_harness.syntax.recovery.blocks import goes_on
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.text.edit import Edit

SEPARATORS = frozenset({b",", b";", b":"})


def inserted(scene: Scene, gap: int, text: bytes, opener: int = -1) -> Edit:
    """The insertion of a token before the token `gap`; `opener` is the bracket that it closes, if it closes one."""
    tokens = scene.tokens
    before = tokens[gap - 1] if gap else None
    after = tokens[gap] if gap < len(tokens) else None
    left = before.end if before else 0
    right = after.start if after else len(scene.data)
    between = scene.data[left:right]
    line_end = _line_end(between)
    if text in CLOSERS:
        return _closer(scene, gap, text, opener)
    if text in SEPARATORS:
        return _separator(scene, gap, left, right, text)
    if text in OPENERS:
        if line_end >= 0 and text == b"{":
            rest = between[:line_end]
            at = left + len(rest) if not rest.strip() else left
            return Edit(at, at, text if at > left else b" " + text)
        if between == b" " and text == b"{" and before and (before.kind == "close" or (after and after.starts_line)):
            return Edit(right, right, b"{ ")
        return Edit(right, right, text)
    # operators and words stand between blanks
    if line_end >= 0:
        rest = between[:line_end]
        at = left + len(rest) if not rest.strip() else left
        return Edit(at, at, (b"" if at > left else b" ") + text)
    if len(between) >= 2 and not between.strip():
        return Edit(left + 1, left + 1, text)
    if between:
        return Edit(left, left, b" " + text)
    return Edit(left, left, text)


def _separator(scene: Scene, gap: int, left: int, right: int, text: bytes) -> Edit:
    between = scene.data[left:right]
    if len(between) == 2 and not between.strip(b" "):
        # two blanks where there is one elsewhere: what is missing stood between them
        return Edit(left + 1, left + 1, text)
    if text == b":" and b"\n" in between and gap < len(scene.tokens):
        question = scene.tokens[scene.line_of(gap - 1).start]
        if question.text == b"?":
            # the answers of a condition on lines of their own
            lead = scene.lead(scene.line_of(gap - 1).start)
            width = scene.indentation(gap)
            at = right - width + len(lead) if width > len(lead) else right
            return Edit(at, at, text if at < right else text + b" ")
    return Edit(left, left, text)


def _closer(scene: Scene, gap: int, text: bytes, opener: int) -> Edit:
    tokens = scene.tokens
    before = tokens[gap - 1] if gap else None
    after = tokens[gap] if gap < len(tokens) else None
    left = before.end if before else 0
    right = after.start if after else len(scene.data)
    between = scene.data[left:right]
    if b"\n" not in between:
        if between == b" " and text == b"}" and before and before.text != b"{" and _padded(scene, opener):
            return Edit(left, left, b" " + text)
        if len(between) > 1 and text != b"}" and _padded(scene, opener):
            return Edit(left + 1, left + 1, text)
        return _inline(left, right, between, after, text)
    hanging = (
        opener >= 0
        and opener + 1 < len(tokens)
        and (tokens[opener + 1].line > tokens[opener].line or tokens[opener + 1].text == b"|")
    )
    if opener >= 0 and hanging and before is not tokens[opener]:
        lead = scene.lead(opener)
        blank = _blank_line(between, left, lead)
        if blank >= 0:
            return Edit(blank, blank, text)
        if (
            after
            and after.starts_line
            and (after.kind == "close" or after.text in SEPARATORS or goes_on(after, scene.language))
        ):
            return _before_line(scene, gap, lead, text)
        return own_line(scene, gap, lead, text)
    rest = between[: _line_end(between)]
    at = left + len(rest) if rest and not rest.strip() else left
    if text == b"}" and at == left and _padded(scene, opener):
        return Edit(left, left, b" " + text)
    return Edit(at, at, text)


def own_line(scene: Scene, gap: int, lead: bytes, text: bytes) -> Edit:
    """A token on a line of its own, before the line of the token `gap`; a blank line that is indented so is taken for it."""
    tokens = scene.tokens
    left = tokens[gap - 1].end if gap else 0
    right = tokens[gap].start if gap < len(tokens) else len(scene.data)
    between = scene.data[left:right]
    if (blank := _blank_line(between, left, lead)) >= 0:
        return Edit(blank, blank, text)
    line_end = _line_end(between)
    at = left + max(line_end, 0)
    return Edit(at, at, scene.tree.document.newline.encode() + lead + text)


def _line_end(text: bytes) -> int:
    """Where the first line ends, before its terminator; -1 where there is but one."""
    at = text.find(b"\n")
    return at - 1 if at > 0 and text[at - 1 : at] == b"\r" else at


def _inline(left: int, right: int, between: bytes, after: Lexeme | None, text: bytes) -> Edit:
    if len(between) > 1 and not between.strip():
        # two blanks where there is one elsewhere: what is missing stood between them
        return Edit(left + 1, left + 1, text)
    if between and after and (after.kind == "close" or after.text in SEPARATORS):
        return Edit(right, right, text)
    return Edit(left, left, text)


def _blank_line(between: bytes, left: int, lead: bytes) -> int:
    """The end of an empty line that is indented by `lead`, -1 where there is none."""
    if not lead:
        return -1
    found = re.search(rb"\n%s(?=\r?\n)" % re.escape(lead), between)
    return left + found.end() if found else -1


def _before_line(scene: Scene, gap: int, lead: bytes, text: bytes) -> Edit:
    """Before the first token of a line, which is pushed aside; one blank too many is taken as the sign of its place."""
    after = scene.tokens[gap]
    width = scene.indentation(gap)
    if width > len(lead):
        at = after.start - width + len(lead)
        return Edit(at, at, text)
    return Edit(after.start, after.start, text if after.kind == "close" or after.text in SEPARATORS else text + b" ")


def _padded(scene: Scene, opener: int) -> bool:
    """Whether there is a blank behind an opener on its line: `{ a }`."""
    if opener < 0:
        return False
    at = scene.tokens[opener].end
    return scene.data[at : at + 1] == b" "
