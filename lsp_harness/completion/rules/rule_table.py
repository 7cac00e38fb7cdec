"""The rules that change the text of a model before it is shown, in their order.

`REPEATED_RULES` run until none of them changes the text, so that a text that passed them passes them again unchanged.
`FINAL_RULES` run once and give the text the form that the document needs.
"""

from collections.abc import Callable
from typing import NamedTuple

from lsp_harness.completion.rules import blank_rules, cut_rules, overlap_rules, redundancy_rules
from lsp_harness.completion.rules.ghost_text import Ghost


class Rule(NamedTuple):
    """A step that shortens, changes or drops the text of the model before it is shown.

    Attributes:
        name: The name in golden files.
        reason: Why the rule exists.
        apply: Returns the ghost with another text, or None to show nothing.
    """

    name: str
    reason: str
    apply: Callable[[Ghost], Ghost | None]


REPEATED_RULES: tuple[Rule, ...] = (
    Rule("special-tokens", "A marker of files or of infilling ends the model's text.", cut_rules.cut_special_tokens),
    Rule("broken-characters", "A limit cut the text inside a character.", cut_rules.cut_broken_characters),
    Rule("chatter", "An instruct model wraps code in prose and fences.", cut_rules.remove_chatter),
    Rule("restated-line", "Models begin an unfinished line anew.", redundancy_rules.remove_restated_line),
    Rule("leading-blanks", "The indentation already stands before the cursor.", blank_rules.trim_leading_blanks),
    Rule("placeholder", "`your code here` is no suggestion.", cut_rules.reject_placeholder),
    Rule("one-line", "If the block has more lines below, one statement fits.", cut_rules.keep_one_line),
    Rule("suffix-start", "The model repeats the text after the cursor.", cut_rules.cut_at_following_line),
    Rule("prefix-repeated", "The model copies the lines above.", cut_rules.cut_copied_lines),
    Rule("runaway", "The model repeats its own lines.", cut_rules.cut_repeated_lines),
    Rule("circling", "The model repeats itself within a line.", cut_rules.reject_repeated_characters),
    Rule("max-lines", "Few long texts are correct, and all are slow to read.", cut_rules.limit_lines),
    Rule("tabs-or-spaces", "A file has one style of indentation.", blank_rules.convert_indentation),
    Rule("reindented", "The model wrote the right shape in the wrong column.", blank_rules.fix_indentation),
    Rule("closers-below", "The document already has the closing line.", overlap_rules.cut_existing_closers),
    Rule("dedented", "The block of the cursor has ended.", blank_rules.cut_after_block),
    Rule("line-overlap", "The document already has the rest of the line.", overlap_rules.cut_line_overlap),
    Rule("blank-tail", "Trailing blanks are noise in a diff.", blank_rules.trim_trailing_blanks),
    Rule("already-before", "The user has just typed the text.", redundancy_rules.reject_typed_text),
    Rule("already-after", "The text already stands after the cursor.", redundancy_rules.reject_following_text),
    Rule("nothing-left", "Blanks are no suggestion.", redundancy_rules.reject_blank_text),
)

FINAL_RULES: tuple[Rule, ...] = (
    Rule("line-above-end", "The line of the cursor must move down.", blank_rules.finish_line_above),
    Rule("newlines", "A document keeps its line terminator.", blank_rules.convert_newlines),
)

RULES: tuple[Rule, ...] = REPEATED_RULES + FINAL_RULES
