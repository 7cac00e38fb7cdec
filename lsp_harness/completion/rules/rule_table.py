"""What is done to a model's text before it is shown, as one table, in the order in which it is done.

`EDITS` are repeated until none of them changes anything, so that showing a shown text again shows the same.
`FINISH` brings the result into the form the document needs, once.
"""

from collections.abc import Callable
from typing import NamedTuple

from lsp_harness.completion.rules import blank_rules, cut_rules, overlap_rules, redundancy_rules
from lsp_harness.completion.rules.ghost_text import Ghost


class Rule(NamedTuple):
    """`apply` answers the ghost with another text, or None: show nothing."""

    name: str
    why: str
    apply: Callable[[Ghost], Ghost | None]


EDITS: tuple[Rule, ...] = (
    Rule("special-tokens", "a fill-in-the-middle or file marker is the model's end of text", cut_rules.special_tokens),
    Rule("broken-characters", "half a character means the text was cut inside it", cut_rules.broken_characters),
    Rule("chatter", "an instruct model wraps code in prose and fences", cut_rules.chatter),
    Rule("restated-line", "models begin the cursor's line anew when it looks unfinished", redundancy_rules.restated),
    Rule("leading-blanks", "the cursor already stands behind its indentation", blank_rules.leading_blanks),
    Rule("placeholder", "`your code here` is no suggestion", cut_rules.placeholder),
    Rule("one-line", "where the block goes on, one statement is what fits", cut_rules.one_line),
    Rule("suffix-start", "the model has arrived at what follows the cursor", cut_rules.suffix_start),
    Rule("prefix-repeated", "the model copies the lines above", cut_rules.prefix_repeated),
    Rule("runaway", "the model repeats its own lines", cut_rules.runaway),
    Rule("circling", "the model repeats itself within a line", cut_rules.circling),
    Rule("max-lines", "few long texts are right, and all are slow to read", cut_rules.max_lines),
    Rule("tabs-or-spaces", "the file decides what indents it", blank_rules.tabs_or_spaces),
    Rule("reindented", "the model has the shape right and the column wrong", blank_rules.reindented),
    Rule("closers-below", "the closing line is there already", overlap_rules.closers_below),
    Rule("dedented", "the block the cursor is in has ended", blank_rules.dedented),
    Rule("line-overlap", "the rest of the line is there already", overlap_rules.line_overlap),
    Rule("blank-tail", "trailing blanks are noise in a diff", blank_rules.blank_tail),
    Rule("already-before", "it has just been typed", redundancy_rules.already_before),
    Rule("already-after", "it stands right of the cursor", redundancy_rules.already_after),
    Rule("nothing-left", "blanks are not a suggestion", redundancy_rules.nothing_left),
)

FINISH: tuple[Rule, ...] = (
    Rule("line-above-end", "the line the cursor is on must move down", blank_rules.line_above_end),
    Rule("newlines", "a document keeps its own terminator", blank_rules.newlines),
)

RULES: tuple[Rule, ...] = EDITS + FINISH
