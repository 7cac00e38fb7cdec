"""The rules that change the text of a model before it is shown, in their order, and their application.

`shape_ghost` is idempotent by construction, because the rules run until nothing changes and a text that never settles
is not shown. `is_settled` uses the same rules: it appends unknown text and tests whether any of it would be shown.

`REPEATED_RULES` run until none of them changes the text, so that a text that passed them passes them again unchanged.
`FINAL_RULES` run once and give the text the form that the document needs.
"""

from collections.abc import Callable
from typing import NamedTuple

from lsp_harness.completion.rules import blank_rules, cut_rules, overlap_rules
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import is_blank, is_lone_closer, to_lf


class ShapingRule(NamedTuple):
    """A step that shortens, changes or drops the text of the model before it is shown.

    Attributes:
        name: The name in golden files.
        reason: Why the rule exists.
        apply: Returns the ghost with another text, or None to show nothing.
    """

    name: str
    reason: str
    apply: Callable[[Ghost], Ghost | None]


REPEATED_RULES: tuple[ShapingRule, ...] = (
    ShapingRule(
        "special-tokens", "A marker of files or of infilling ends the model's text.", cut_rules.cut_special_tokens
    ),
    ShapingRule("broken-characters", "A limit cut the text inside a character.", cut_rules.cut_broken_characters),
    ShapingRule("chatter", "An instruct model wraps code in prose and fences.", cut_rules.remove_chatter),
    ShapingRule("restated-line", "Models begin an unfinished line anew.", overlap_rules.remove_restated_line),
    ShapingRule("leading-blanks", "The indentation already stands before the cursor.", blank_rules.trim_leading_blanks),
    ShapingRule("placeholder", "`your code here` is no suggestion.", cut_rules.reject_placeholder),
    ShapingRule("one-line", "If the block has more lines below, one statement fits.", cut_rules.keep_one_line),
    ShapingRule("suffix-start", "The model repeats the text after the cursor.", cut_rules.cut_at_following_line),
    ShapingRule("prefix-repeated", "The model copies the lines above.", cut_rules.cut_copied_lines),
    ShapingRule("runaway", "The model repeats its own lines.", cut_rules.cut_repeated_lines),
    ShapingRule("circling", "The model repeats itself within a line.", cut_rules.reject_repeated_characters),
    ShapingRule("max-lines", "Few long texts are correct, and all are slow to read.", cut_rules.limit_lines),
    ShapingRule("tabs-or-spaces", "A file has one style of indentation.", blank_rules.convert_indentation),
    ShapingRule("reindented", "The model wrote the right shape in the wrong column.", blank_rules.fix_indentation),
    ShapingRule("closers-below", "The document already has the closing line.", overlap_rules.cut_existing_closers),
    ShapingRule("dedented", "The block of the cursor has ended.", blank_rules.cut_after_block),
    ShapingRule("line-overlap", "The document already has the rest of the line.", overlap_rules.cut_line_overlap),
    ShapingRule("blank-tail", "Trailing blanks are noise in a diff.", blank_rules.trim_trailing_blanks),
    ShapingRule("already-before", "The user has just typed the text.", overlap_rules.reject_typed_text),
    ShapingRule("already-after", "The text already stands after the cursor.", overlap_rules.reject_following_text),
    ShapingRule("nothing-left", "Blanks are no suggestion.", overlap_rules.reject_blank_text),
)

FINAL_RULES: tuple[ShapingRule, ...] = (
    ShapingRule("line-above-end", "The line of the cursor must move down.", blank_rules.finish_line_above),
    ShapingRule("newlines", "A document keeps its line terminator.", blank_rules.convert_newlines),
)

RULES: tuple[ShapingRule, ...] = REPEATED_RULES + FINAL_RULES


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


def shape_ghost(ghost: Ghost) -> ShapedText:
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
    """Return whether more tokens cannot change the result of `shape_ghost`.

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
