"""The order in which code asks its conditions and gives its values, before and after a change.

`if a: return 1` and `elif b: return True` with `a` and `b` exchanged have the same tokens, and mean another thing. So
the order of what stays is a part of what a repair keeps.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from lsp_harness.syntax.symbols.evaluation_steps import Step, count_negations, find_step_region, has_try, read_steps
from lsp_harness.verify.change import Change


def check_evaluation_order(change: Change) -> str:
    """Return what a change puts into another order, as a phrase, or an empty text.

    Conditions that are there once before and after must keep their order. So must values and calls, unless the change
    writes a new condition or negates one, or there is a `try`, whose parts do not run in the order of the text.
    """
    before, after = change.tree_before, change.tree_after
    if before is None or after is None or not change.edits:
        return ""
    first = min(edit.start for edit in change.edits)
    last = max(edit.end for edit in change.edits)
    growth = len(change.after.data) - len(change.before.data)
    region_before, region_after = find_step_region(before, first, last), find_step_region(after, first, last + growth)
    old, new = read_steps(before, region_before), read_steps(after, region_after)
    if old is None or new is None:
        return ""
    if phrase := _find_exchange([step for step in old if step.is_condition], new):
        return f"asks the conditions {phrase} in another order"
    asked = Counter(step.text for step in old if step.is_condition)
    is_new_question = any(step.is_condition and step.text not in asked for step in new)
    if is_new_question or count_negations(before, region_before) != count_negations(after, region_after):
        return ""
    if has_try(before, region_before) or has_try(after, region_after):
        return ""
    phrase = _find_exchange(old, new)
    return phrase and f"puts {phrase} into another order"


def _find_exchange(old: Sequence[Step], new: Sequence[Step]) -> str:
    """Return two steps that are in another order in the new code, or an empty text."""
    counts = [Counter(step.text for step in steps) for steps in (old, new)]
    places = {step.text: index for index, step in enumerate(new)}
    shared = [step.text for step in old if counts[0][step.text] == counts[1][step.text] == 1]
    for one, other in pairwise(shared):
        if places[one] > places[other]:
            return f"`{one}` and `{other}`"
    return ""
