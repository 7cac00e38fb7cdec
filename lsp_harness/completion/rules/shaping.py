"""The application of the rules: the part of a model's text that is shown, and whether the model may stop.

`shape` is idempotent by construction, because the rules run until nothing changes and a text that never settles is not
shown. `is_settled` uses the same rules: it appends unknown text and tests whether any of it would be shown.
"""

from typing import NamedTuple

from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.rule_table import FINAL_RULES, REPEATED_RULES
from lsp_harness.text.code_lines import is_blank, is_lone_closer, to_lf

MAX_PASSES = 6
"""Maximum number of passes of the rules. Nearly every text needs two: one that changes it and one that does not."""
UNKNOWN_TEXT = "\ue000\uf8ff" * 24
"""A placeholder for text that the model may still write. It has too many private characters to be similar to a line."""
UNDECIDED_RULES = frozenset({"chatter", "placeholder"})
"""Rules whose None may change with more text: a fence may follow prose, and `# TODO` may become another word."""
DEEP_INDENT = " " * 40
"""The indentation of an unknown line. No rule cuts at a line that is deeper than all others."""


class ShapedText(NamedTuple):
    """The result of the rules: the text to show, or None for no text, and the names of the rules that changed it."""

    text: str | None
    applied: tuple[str, ...]


def shape(ghost: Ghost) -> ShapedText:
    """Apply all rules to the text of a ghost."""
    applied: dict[str, None] = {}
    ghost = ghost.with_text(to_lf(ghost.text))
    for _ in range(MAX_PASSES):
        text_before = ghost.text
        for rule in REPEATED_RULES:
            new_ghost = rule.apply(ghost)
            if new_ghost is None:
                return ShapedText(None, (*applied, rule.name))
            if new_ghost.text != ghost.text:
                applied[rule.name] = None
            ghost = new_ghost
        if ghost.text == text_before:
            break
    else:
        return ShapedText(None, (*applied, "unsettled"))
    for rule in FINAL_RULES:
        new_ghost = rule.apply(ghost)
        if new_ghost is not None and new_ghost.text != ghost.text:
            applied[rule.name] = None
            ghost = new_ghost
    return ShapedText(ghost.text, tuple(applied))


def is_settled(ghost: Ghost) -> bool:
    """Return whether more tokens cannot change the result of `shape`.

    Callers create the ghost of each longer text by `with_text` of the same ghost, so that its surroundings stay cached.
    """
    text = to_lf(ghost.text)
    if "\n" not in text and "<" not in text and is_blank(ghost.line_suffix):
        return False
    open_ghost = ghost.with_text(_append_unknown_text(ghost, text))
    for rule in REPEATED_RULES:
        new_ghost = rule.apply(open_ghost)
        if new_ghost is None:
            return rule.name not in UNDECIDED_RULES
        open_ghost = new_ghost
    return UNKNOWN_TEXT not in open_ghost.text


def _append_unknown_text(ghost: Ghost, text: str) -> str:
    """Return the text with unknown text after it. A last line that may still become another line is left out."""
    lines, newline, last_line = text.rpartition("\n")
    if newline and (is_blank(last_line) or is_lone_closer(last_line) or last_line.lstrip()[:1] in ("`", "~")):
        return f"{lines}\n{DEEP_INDENT}{UNKNOWN_TEXT}"
    return text + UNKNOWN_TEXT
