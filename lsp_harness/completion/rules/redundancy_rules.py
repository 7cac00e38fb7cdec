"""Rules against text that adds nothing, because such a suggestion is worse than none."""

from lsp_harness.completion.rules.bracket_balance import CLOSERS, count_unclosed
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import is_blank

MIN_REPEATED_CHARS = 3
"""Minimum length of a text that counts as a repetition. Shorter texts (`))`, `x`) may be correct."""
MIN_RESTATED_CHARS = 8
"""Minimum length of the typed part of a line that counts as restated."""


def remove_restated_line(ghost: Ghost) -> Ghost:
    """Remove the typed part of the line if the model wrote it again."""
    typed = ghost.line_prefix.strip()
    text = ghost.text.lstrip(" \t")
    if len(typed) >= MIN_RESTATED_CHARS and " " in typed and text.startswith(typed):
        return ghost.with_text(text[len(typed) :])
    return ghost


def reject_typed_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the user has just typed the text."""
    text, typed = ghost.text.strip(), ghost.line_prefix.rstrip()
    if len(text) < MIN_REPEATED_CHARS or not typed.endswith(text):
        return ghost
    return ghost if len(typed) > len(text) and typed[-len(text) - 1].isalnum() and text[0].isalnum() else None


def reject_following_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the text is the start of the rest of the line, or begins with the whole rest."""
    text, line_suffix = ghost.text.strip(), ghost.line_suffix.strip()
    if not text or not line_suffix or ghost.mode != "line":
        return ghost
    has_only_closers = all(char in CLOSERS for char in line_suffix)
    if has_only_closers and count_unclosed(ghost.line_prefix, ghost.line_suffix, ghost.language):
        return ghost
    return None if line_suffix.startswith(text) or text.startswith(line_suffix) else ghost


def reject_blank_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the text is blank."""
    return None if is_blank(ghost.text) else ghost
