"""Rules that show nothing: a suggestion which adds nothing is worse than none."""

from lsp_harness.completion.rules.bracket_balance import CLOSERS, missing
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import is_blank

SAME_LINE = 3  # shorter texts (`))`, `x`) repeat what is before the cursor by right


def restated(ghost: Ghost) -> Ghost:
    """A model that begins the cursor's line anew: keep what comes after the part that is there."""
    typed = ghost.line_prefix.strip()
    text = ghost.text.lstrip(" \t")
    if len(typed) >= 8 and " " in typed and text.startswith(typed):
        return ghost.having(text[len(typed) :])
    return ghost


def already_before(ghost: Ghost) -> Ghost | None:
    """The text is what has just been typed."""
    text, before = ghost.text.strip(), ghost.line_prefix.rstrip()
    if len(text) < SAME_LINE or not before.endswith(text):
        return ghost
    return ghost if len(before) > len(text) and before[-len(text) - 1].isalnum() and text[0].isalnum() else None


def already_after(ghost: Ghost) -> Ghost | None:
    """The text is how the rest of the line begins, or begins with all of it."""
    text, rest = ghost.text.strip(), ghost.line_suffix.strip()
    if not text or not rest or ghost.mode != "line":
        return ghost
    closers = all(char in CLOSERS for char in rest)
    if closers and missing(ghost.line_prefix, ghost.line_suffix, ghost.language):
        return ghost
    return None if rest.startswith(text) or text.startswith(rest) else ghost


def nothing_left(ghost: Ghost) -> Ghost | None:
    return None if is_blank(ghost.text) else ghost
