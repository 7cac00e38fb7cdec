"""Answers that leave the cursor's line: the next line where this one is complete, and the body of a block it opens.

The rules judge one place at a time, so each part of such an answer is given to them with its own surroundings. Those
are kept from token to token, with all that was worked out about them.
"""

from functools import lru_cache

from lsp_harness.completion.rules.display_mode import choose
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import line_depth, opens_block


def may_break(ghost: Ghost) -> bool:
    """Whether the answer may begin with a line break: something is on the line, and nothing that must stay on it."""
    rest = ghost.line_suffix
    return bool(ghost.line_prefix.strip()) and (not rest.strip() or rest[0].isspace())


def on_next_line(ghost: Ghost, text: str) -> tuple[Ghost, str] | None:
    """For a text that begins with a line break: the cursor behind it, and the rest of the text.

    The present line was complete, and what comes next is a line of its own; the rules are to judge it as one.
    """
    blanks, newline, rest = text.partition("\n")
    if ghost.mode != "line" or not newline or blanks.strip() or not may_break(ghost):
        return None
    return _below(ghost.having("")), rest


def with_body(ghost: Ghost, text: str) -> tuple[Ghost, str] | None:
    """For a line that opens a block which has no body yet: the cursor below it, and what was written there.

    A header alone would be a syntax error above a line of the same depth; one line of body makes it whole.
    """
    header, newline, body = text.partition("\n")
    line = ghost.line_prefix + header
    if ghost.mode == "block" or not newline or not opens_block(line, ghost.syntax):
        return None
    below = ghost.line_suffix if ghost.line_suffix.strip() else ghost.next
    if below and line_depth(below) > line_depth(line):
        return None
    return _inside(ghost.having(""), header), body


@lru_cache(maxsize=16)
def _below(ghost: Ghost) -> Ghost:
    prefix = ghost.prefix + "\n"
    mode = choose(prefix, ghost.suffix, ghost.language)
    return Ghost(prefix, ghost.suffix, "", mode, ghost.language, ghost.newline)


@lru_cache(maxsize=16)
def _inside(ghost: Ghost, header: str) -> Ghost:
    suffix = ghost.suffix if ghost.suffix.startswith(("\n", "\r")) else "\n" + ghost.suffix
    return Ghost(ghost.prefix + header + "\n", suffix, "", "line", ghost.language, ghost.newline)


def joined(header: str, body: str | None, ghost: Ghost) -> str:
    """Both parts as one text, ended as `header` was."""
    if not body:
        return header
    end = ghost.newline if header.endswith(("\n", "\r")) else ""
    return header.rstrip("\r\n") + ghost.newline + body + end
