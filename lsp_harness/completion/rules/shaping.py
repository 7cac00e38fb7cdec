"""What of a model's text is shown, and whether the model may stop.

`shape` is idempotent by construction: the table runs until nothing changes, and a text that will not settle is not
shown. `enough` is sound for the same table: it asks whether text still to come would survive it.
"""

from typing import NamedTuple

from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.rule_table import EDITS, FINISH
from lsp_harness.text.code_lines import is_blank, is_lone_closer, to_lf

PASSES = 6  # two are enough for nearly every text: one that changes it and one that does not
# stands for whatever the model may still write: private characters, too many to pass for a copying mistake
UNKNOWN = "\ue000\uf8ff" * 24
# prose may still be followed by a fence, and `# TODO` may still become another word
UNDECIDED = frozenset({"chatter", "placeholder"})
DEEP = " " * 40  # an unknown line's indentation is unknown as well; deeper than all is what no rule cuts at


class Shaped(NamedTuple):
    """The text to show, or None; and the names of the rules that had a part in it."""

    text: str | None
    applied: tuple[str, ...]


def shape(ghost: Ghost) -> Shaped:
    """Run the whole table."""
    applied: dict[str, None] = {}
    now = ghost.having(to_lf(ghost.text))
    for _ in range(PASSES):
        before = now.text
        for rule in EDITS:
            new = rule.apply(now)
            if new is None:
                return Shaped(None, (*applied, rule.name))
            if new.text != now.text:
                applied[rule.name] = None
            now = new
        if now.text == before:
            break
    else:
        return Shaped(None, (*applied, "unsettled"))
    for rule in FINISH:
        new = rule.apply(now)
        if new is not None and new.text != now.text:
            applied[rule.name] = None
            now = new
    return Shaped(now.text, tuple(applied))


def enough(ghost: Ghost) -> bool:
    """Whether more tokens can no longer change what `shape` shows.

    Give each new text to the same ghost by `having`; then only the text is looked at again.
    """
    text = to_lf(ghost.text)
    if "\n" not in text and "<" not in text and is_blank(ghost.line_suffix):
        return False
    now = ghost.having(_open(ghost, text))
    for rule in EDITS:
        new = rule.apply(now)
        if new is None:
            return rule.name not in UNDECIDED
        now = new
    return UNKNOWN not in now.text


def _open(ghost: Ghost, text: str) -> str:
    """The text with the unknown rest behind it; a last line that may yet turn out otherwise is left out."""
    done, newline, last = text.rpartition("\n")
    if newline and (is_blank(last) or is_lone_closer(last) or last.lstrip()[:1] in ("`", "~")):
        return f"{done}\n{DEEP}{UNKNOWN}"
    return text + UNKNOWN
