"""Answers that leave the line of the cursor: they begin on the next line, or go on into the body of a new block.

The rules judge one place at a time, so each part of such an answer gets its own `Ghost`. It is cached, with everything
that was computed about its surroundings.
"""

from functools import lru_cache

from lsp_harness.completion.rules.display_mode import choose_display_mode
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import line_depth, opens_block


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
