"""What is done to a model's text before it is shown, as one table, in the order in which it is done.

`EDITS` are repeated until none of them changes anything, so that showing a shown text again shows the same.
`FINISH` brings the result into the form the document needs, once.
"""

from collections.abc import Callable
from typing import NamedTuple

from lsp_harness.pipeline import cuts, layout, overlap, quiet
from lsp_harness.pipeline.ghost import Ghost


class Rule(NamedTuple):
    """`apply` answers the ghost with another text, or None: show nothing."""

    name: str
    why: str
    apply: Callable[[Ghost], Ghost | None]


EDITS: tuple[Rule, ...] = (
    Rule("special-tokens", "a fill-in-the-middle or file marker is the model's end of text", cuts.special_tokens),
    Rule("broken-characters", "half a character means the text was cut inside it", cuts.broken_characters),
    Rule("chatter", "an instruct model wraps code in prose and fences", cuts.chatter),
    Rule("restated-line", "models begin the cursor's line anew when it looks unfinished", quiet.restated),
    Rule("leading-blanks", "the cursor already stands behind its indentation", layout.leading_blanks),
    Rule("placeholder", "`your code here` is no suggestion", cuts.placeholder),
    Rule("one-line", "where the block goes on, one statement is what fits", cuts.one_line),
    Rule("suffix-start", "the model has arrived at what follows the cursor", cuts.suffix_start),
    Rule("prefix-repeated", "the model copies the lines above", cuts.prefix_repeated),
    Rule("runaway", "the model repeats its own lines", cuts.runaway),
    Rule("circling", "the model repeats itself within a line", cuts.circling),
    Rule("max-lines", "few long texts are right, and all are slow to read", cuts.max_lines),
    Rule("tabs-or-spaces", "the file decides what indents it", layout.tabs_or_spaces),
    Rule("reindented", "the model has the shape right and the column wrong", layout.reindented),
    Rule("closers-below", "the closing line is there already", overlap.closers_below),
    Rule("dedented", "the block the cursor is in has ended", layout.dedented),
    Rule("line-overlap", "the rest of the line is there already", overlap.line_overlap),
    Rule("blank-tail", "trailing blanks are noise in a diff", layout.blank_tail),
    Rule("already-before", "it has just been typed", quiet.already_before),
    Rule("already-after", "it stands right of the cursor", quiet.already_after),
    Rule("nothing-left", "blanks are not a suggestion", quiet.nothing_left),
)

FINISH: tuple[Rule, ...] = (
    Rule("line-above-end", "the line the cursor is on must move down", layout.line_above_end),
    Rule("newlines", "a document keeps its own terminator", layout.newlines),
)

RULES: tuple[Rule, ...] = EDITS + FINISH
