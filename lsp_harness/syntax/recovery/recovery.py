"""Search for edits of one token after which a text parses again, with the likelihood of each edit.

The places come from the error recovery of the parser, from brackets and quotes without a partner, and from the
indentation. Each edit is tried on the tree of the text. The edits that remove the fault are ordered by evidence from
the rest of the text. No model is used, and the search does not know whether the repaired program is correct.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import islice
from time import thread_time
from typing import NamedTuple

from lsp_harness.config.resources import find_resource
from lsp_harness.syntax.parse_budget import Allowance, ParseBudgetExceeded
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edit_evidence import Evidence, EvidenceCollector, add_comparisons, no_edit_evidence
from lsp_harness.syntax.recovery.edits.generators import trials
from lsp_harness.syntax.recovery.misplaced_signs import describe_misplaced_sign, is_misplaced_removal
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token, token_class
from lsp_harness.syntax.syntax_errors import Fault, find_faults, find_new_tree_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit

CLEAR_NATS = 5.0
"""Difference of evidence, in nats, that makes an edit cost 1 more. The better edit is then right in more than 99% of
texts."""
HOPELESS_NATS = 9.0
"""An edit is not tried if its evidence is worse than that of the best edit by more than this."""
MAX_TEXT_BYTES = 200_000
"""Maximum size of a text. Reading the tokens of a larger text takes too long."""
MAX_TRIALS = 3_000
"""Maximum number of edits that are weighed before any is tried. A text of one long line has more."""
PARSE_TIME_S = 0.15
"""Maximum processor time of the parses of all trials. A single trial can make a text that takes seconds to parse."""
DOUBT_NATS = 1.0
"""Difference in evidence from which on all edits cost too much, because another fault is likelier than the best edit.
"""
MAX_EXTRA_COST = 3.0
"""An edit that costs 2 plus this or more is not returned."""
OUT_OF_LINE, OUT_OF_LINE_WEIGHT = "out of line beside one brace in line", 2.5
"""The observation for edits that keep the layout of the text worse than one other edit, and its weight."""
MAX_GAIN_NATS = 2.0
"""Maximum gain from evidence that is only known after a trial."""


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """Limits of a search.

    Attributes:
        max_trials: Maximum number of edits that are tried.
        time_s: Maximum time of the trials. Weighing the edits before may take as long again.
        clock: Returns seconds. The default counts the processor time of this thread, so that other processes do not
            change the result.
    """

    max_trials: int = 400
    time_s: float = 0.15
    clock: Callable[[], float] = thread_time


@dataclass(frozen=True, slots=True)
class Recovery:
    """An edit of one token that removes the fault. `compute_costs` explains `cost`."""

    edit: Edit
    action: str
    token: str
    cost: float


def find_recoveries(tree: SyntaxTree, start: int, end: int, limits: TrialLimits | None = None) -> list[Recovery]:
    """Return the edits that repair the syntax error at a range of a text, the likeliest first.

    Args:
        tree: The tree of the text.
        start: The byte offset at which the reported error starts.
        end: The byte offset at which it ends.
        limits: The limits of the search.

    Returns:
        The edits. The list is empty if the text has no fault.
    """
    broken_text = BrokenText(tree, start, end)
    if len(tree.data) > MAX_TEXT_BYTES or not broken_text.tokens or (not find_faults(tree) and _does_compile(tree)):
        return []
    repairs = list(_try_edits(broken_text, limits or TrialLimits()))
    complete = [repair for repair in repairs if repair.is_complete] or repairs
    add_comparisons([repair.evidence for repair in complete])
    _prefer_layout(complete)
    weighed = sorted(((weigh(repair.evidence), repair.trial) for repair in complete), key=lambda pair: pair[0])
    distinct = _remove_equal_outcomes(broken_text, weighed)
    costs = compute_costs([weight for weight, _ in distinct], weigh(no_edit_evidence(len(complete))))
    return [
        Recovery(trial.edit, trial.action, decode_token(trial.token), cost)
        for (_, trial), cost in zip(distinct, costs, strict=True)
        if cost < 2.0 + MAX_EXTRA_COST
    ]


def _prefer_layout(repairs: Sequence["_Repair"]) -> None:
    """Add evidence against all other repairs if exactly one closing brace leaves every bracket in line with its
    partner.
    """
    braces = [repair for repair in repairs if repair.trial.token == b"}" and repair.trial.action == "insert"]
    in_line = [repair for repair in braces if repair.evidence.get("all brackets in line")]
    if len(in_line) == 1 and min(repairs, key=lambda repair: weigh(repair.evidence)) is in_line[0]:
        for repair in repairs:
            if repair is not in_line[0]:
                repair.evidence[OUT_OF_LINE] = 1.0


def _remove_equal_outcomes(broken_text: BrokenText, edits: list[tuple[float, Trial]]) -> list[tuple[float, Trial]]:
    """Keep only the first of several edits that lead to the same tokens with different indentation."""
    first_by_outcome: dict[tuple[object, ...], tuple[float, Trial]] = {}
    for weight, trial in edits:
        first_by_outcome.setdefault(_make_outcome_key(broken_text, trial), (weight, trial))
    return list(first_by_outcome.values())


def _make_outcome_key(broken_text: BrokenText, trial: Trial) -> tuple[object, ...]:
    """Return a key that is equal for edits with the same tokens afterwards.

    An insertion before or after an equal token has the same key.
    """
    if trial.action == "replace" or trial.note in ("split", "half") or token_class(trial) == "quote":
        return trial.edit
    position = trial.position
    while position and broken_text.tokens[position - 1].text == trial.token:
        position -= 1
    return trial.action, trial.token, position


def compute_costs(evidence: list[float], no_edit: float) -> list[float]:
    """Return the cost of each edit.

    The best edit costs 1, as much as one typing error. It costs up to 1 more if another fault is as likely. The other
    edits cost 1 more if the evidence for the best edit is clear, and almost nothing more if the evidence is equal.

    Args:
        evidence: The weighed evidence against each edit in nats, the best edit first.
        no_edit: The weighed evidence against the case that none of the edits is right.
    """
    if not evidence or no_edit + DOUBT_NATS < evidence[0]:
        return [2.0 + MAX_EXTRA_COST] * len(evidence)
    doubt = min(1.0, max(0.0, 1.0 - (no_edit - evidence[0]) / CLEAR_NATS)) ** 2
    return [1.0 + doubt + ((value - evidence[0]) / CLEAR_NATS) ** 2 for value in evidence]


def weigh(evidence: Evidence) -> float:
    """Return the weighed sum of the evidence against an edit, in nats."""
    weight_of = weights()
    return sum(
        weight_of.get(name, OUT_OF_LINE_WEIGHT if name == OUT_OF_LINE else 0.0) * value
        for name, value in evidence.items()
    )


@cache
def weights() -> Mapping[str, float]:
    """Return the weight of each observation.

    `benchmarks/token_weights.py` fits them on code with one changed token.
    """
    table: dict[str, float] = json.loads(find_resource("recovery", "weights.json").read_text("utf-8"))
    return table


class _Repair(NamedTuple):
    """An edit that removes the fault. `is_complete` says that no other fault remains."""

    trial: Trial
    evidence: Evidence
    is_complete: bool


def _try_edits(broken_text: BrokenText, limits: TrialLimits) -> Iterator[_Repair]:
    """Yield the edits that remove the fault, with their evidence."""
    collector, tree = EvidenceCollector(broken_text), broken_text.tree
    queue: list[tuple[float, int, Trial, Evidence]] = []
    weighing = Allowance(limits.time_s, limits.clock)
    for number, trial in enumerate(islice(trials(broken_text), MAX_TRIALS)):
        if weighing.is_spent:
            # the right edit may be among those that have not been weighed
            return
        observed = collector.observe_before_trial(trial)
        heappush(queue, (weigh(observed), number, trial, observed))
    faults_before, best_score, trial_count = find_faults(tree), float("inf"), 0
    trying, allowance = Allowance(limits.time_s, limits.clock), Allowance(PARSE_TIME_S)
    while queue:
        score, _, trial, observed = heappop(queue)
        if (
            score > best_score + HOPELESS_NATS
            or trial_count >= limits.max_trials
            or trying.is_spent
            or allowance.is_spent
        ):
            return
        trial_count += 1
        try:
            new_tree = tree.apply_edit(trial.edit, allowance)
        except ParseBudgetExceeded:
            continue
        if new_tree is None:
            continue
        remaining = find_faults(new_tree)
        if remaining and not _has_fewer_faults(tree, faults_before, new_tree, remaining, trial.edit):
            continue
        if not _compiles_as_well(tree, new_tree, trial.edit) or _is_misplaced(trial, new_tree):
            continue
        observed = {**observed, **collector.observe_after_trial(trial, new_tree)}
        if not remaining:
            best_score = min(best_score, weigh(observed) + MAX_GAIN_NATS)
        yield _Repair(trial, observed, not remaining)


def _is_misplaced(trial: Trial, new_tree: SyntaxTree) -> bool:
    """Return whether the sign of an edit parses at its place but has no meaning there."""
    if trial.action == "delete":
        return is_misplaced_removal(new_tree, trial.token, trial.edit.start)
    start = trial.edit.start + len(trial.edit.new) - len(trial.edit.new.lstrip())
    end = start + len(trial.edit.new.strip())
    return bool(describe_misplaced_sign(new_tree, start, end, is_replacement=trial.action == "replace"))


def _has_fewer_faults(
    tree: SyntaxTree, faults_before: list[Fault], new_tree: SyntaxTree, remaining: list[Fault], edit: Edit
) -> bool:
    """Return whether there are fewer faults than before the edit, and none of them is new."""
    line = new_tree.document.line_of(edit.start)
    if any(
        new_tree.document.line_of(fault.start) <= line <= new_tree.document.line_of(fault.end) for fault in remaining
    ):
        # a fault on the line of the edit is probably the same fault
        return False
    return len(remaining) < len(faults_before) and not find_new_tree_faults(tree, new_tree, [edit])


def _does_compile(tree: SyntaxTree) -> bool:
    return not tree.language.compiles_in_process or find_python_fault(tree.data) is None


def _compiles_as_well(tree: SyntaxTree, new_tree: SyntaxTree, edit: Edit) -> bool:
    """Return whether the Python compiler accepts the new text, or reports an error below the line of the old error."""
    if not tree.language.compiles_in_process:
        return True
    new_fault = find_python_fault(new_tree.data)
    if new_fault is None:
        return True
    old_fault = find_python_fault(tree.data)
    if old_fault is None:
        return False
    shift = len(edit.new) - (edit.end - edit.start)
    end_of_line = tree.data.find(b"\n", old_fault.end)
    return end_of_line >= 0 and new_fault.start > end_of_line + shift
