"""Edits of one token after which a text parses again, and how likely each of them is what was meant.

The places come from the parser's own recovery, from brackets and quotes without a partner, from the indentation and from the
siblings. Each edit is tried on the tree of the text. What the rest of the text shows about the way it is written orders those
after which the fault is gone. No model is asked, and nothing is said about whether the program then does what it should.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import islice
from time import thread_time
from typing import NamedTuple

from lsp_harness.config.resources import resource
from lsp_harness.syntax.parse_budget import Allowance, ParseBudgetExceeded
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.edits.generators import trials
from lsp_harness.syntax.recovery.evidence.evidence import Evidence, Judge, alternative, compare
from lsp_harness.syntax.recovery.sign_rules.misplaced_signs import misplaced_removal, misplaced_sign
from lsp_harness.syntax.recovery.token_edit import Trial, class_of, shown
from lsp_harness.syntax.syntax_errors import Fault, find_faults, find_new_tree_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit

CLEAR = 5.0
"""From this difference of evidence on (in nats) one edit is 1 dearer than another: it is then right in more than 99 of 100 texts."""
HOPELESS = 9.0
"""An edit with so much more against it than the best one is not tried."""
LARGEST_BYTES = 200_000
"""Of larger texts nothing is tried: to read their tokens alone would take too long."""
MOST_TRIALS = 3_000
"""How many edits are weighed before any is tried; texts of one long line have more."""
PARSE_S = 0.15
"""Processor time of the parses of all trials together: one trial can make a text on which the parser takes seconds."""
SLACK = 1.0
"""How much likelier it may be that something else is wrong; the edits then cost 2 and more."""
GUESS = 3.0
"""An edit that costs so much more than 2 is not worth a check."""
OUT_OF_LINE, LAYOUT = "out of line beside one brace in line", 2.5
"""What is observed of edits beside the one that keeps the layout of the text, and how much it counts against them."""
UNSEEN_GAIN = 2.0
"""How much what is seen only after a trial may speak for it."""


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """How long trials may go on: how many are made at most, and for how many seconds by `clock`; weighing them before may take as long again.

    The clock counts what this thread computes: what other processes do must not decide which edits are compared.
    """

    tries: int = 400
    seconds: float = 0.15
    clock: Callable[[], float] = thread_time


@dataclass(frozen=True, slots=True)
class Recovery:
    """An edit of one token after which the fault is gone. `cost`: see `costs`."""

    edit: Edit
    action: str
    token: str
    cost: float


def recoveries(tree: SyntaxTree, start: int, end: int, limits: TrialLimits | None = None) -> list[Recovery]:
    """The edits that mend the syntax error at a range of a text, the likeliest first; none where the text has no fault."""
    scene = Scene(tree, start, end)
    if len(tree.data) > LARGEST_BYTES or not scene.tokens or (not find_faults(tree) and _compiles(tree)):
        return []
    found = list(_tried(scene, limits or TrialLimits()))
    whole = [one for one in found if one.whole] or found
    compare([one.evidence for one in whole])
    _prefer_the_layout(whole)
    kept = _distinct(scene, sorted(((weighed(one.evidence), one.trial) for one in whole), key=lambda one: one[0]))
    return [
        Recovery(trial.edit, trial.action, shown(trial.token), cost)
        for (_, trial), cost in zip(
            kept, costs([one[0] for one in kept], weighed(alternative(len(whole)))), strict=True
        )
        if cost < 2.0 + GUESS
    ]


def _prefer_the_layout(mended: Sequence["_Mended"]) -> None:
    """Count it against all others if one closing brace alone leaves every bracket of the text in line with its partner."""
    braces = [one for one in mended if one.trial.token == b"}" and one.trial.action == "insert"]
    in_line = [one for one in braces if one.evidence.get("all brackets in line")]
    if len(in_line) == 1 and min(mended, key=lambda one: weighed(one.evidence)) is in_line[0]:
        for one in mended:
            if one is not in_line[0]:
                one.evidence[OUT_OF_LINE] = 1.0


def _distinct(scene: Scene, kept: list[tuple[float, Trial]]) -> list[tuple[float, Trial]]:
    """Of edits after which the tokens are the same, only differently indented, the first."""
    found: dict[tuple[object, ...], tuple[float, Trial]] = {}
    for against, trial in kept:
        found.setdefault(_outcome(scene, trial), (against, trial))
    return list(found.values())


def _outcome(scene: Scene, trial: Trial) -> tuple[object, ...]:
    """What tells the tokens after one edit from those after another: next to a token of its kind it does not matter on which side."""
    if trial.action == "replace" or trial.note in ("split", "half") or class_of(trial) == "quote":
        return trial.edit
    at = trial.at
    while at and scene.tokens[at - 1].text == trial.token:
        at -= 1
    return trial.action, trial.token, at


def costs(evidence: list[float], nothing: float) -> list[float]:
    """What each costs, given what speaks against each, the best first, and what against there being no such edit.

    The best costs 1, as much as one typing error, and up to 1 more where it is as likely that something else is wrong. The others cost 1 more where
    the text clearly speaks for the best, and almost nothing more where the text does not say.
    """
    if not evidence or nothing + SLACK < evidence[0]:
        return [2.0 + GUESS] * len(evidence)
    doubt = min(1.0, max(0.0, 1.0 - (nothing - evidence[0]) / CLEAR)) ** 2
    return [1.0 + doubt + ((one - evidence[0]) / CLEAR) ** 2 for one in evidence]


def weighed(evidence: Evidence) -> float:
    """How much speaks against an edit."""
    known = weights()
    return sum(known.get(name, LAYOUT if name == OUT_OF_LINE else 0.0) * value for name, value in evidence.items())


@cache
def weights() -> Mapping[str, float]:
    """How much each observation counts, fitted on real code with one token changed (`tests/benchmarks/token_weights.py`)."""
    found: dict[str, float] = json.loads(resource("recovery", "weights.json").read_text("utf-8"))
    return found


class _Mended(NamedTuple):
    """An edit after which the fault is gone; `whole` where no other fault is left."""

    trial: Trial
    evidence: Evidence
    whole: bool


def _tried(scene: Scene, limits: TrialLimits) -> Iterator[_Mended]:
    """The edits that mend, with what was observed of each."""
    judge, tree = Judge(scene), scene.tree
    waiting: list[tuple[float, int, Trial, Evidence]] = []
    weighing = Allowance(limits.seconds, limits.clock)
    for number, trial in enumerate(islice(trials(scene), MOST_TRIALS)):
        if weighing.is_spent:
            # the right edit may be among those that nobody looked at
            return
        seen = judge.before(trial)
        heappush(waiting, (weighed(seen), number, trial, seen))
    before, best, tries = find_faults(tree), float("inf"), 0
    trying, allowance = Allowance(limits.seconds, limits.clock), Allowance(PARSE_S)
    while waiting:
        against, _, trial, seen = heappop(waiting)
        if against > best + HOPELESS or tries >= limits.tries or trying.is_spent or allowance.is_spent:
            return
        tries += 1
        try:
            after = tree.apply_edit(trial.edit, allowance)
        except ParseBudgetExceeded:
            continue
        if after is None:
            continue
        left = find_faults(after)
        if left and not _fewer(tree, before, after, left, trial.edit):
            continue
        if not _compiles_as_well(tree, after, trial.edit) or _misplaced(trial, after):
            continue
        seen = {**seen, **judge.after(trial, after)}
        if not left:
            best = min(best, weighed(seen) + UNSEEN_GAIN)
        yield _Mended(trial, seen, not left)


def _misplaced(trial: Trial, after: SyntaxTree) -> bool:
    """Whether the sign that an edit puts parses at its place and means nothing there."""
    if trial.action == "delete":
        return misplaced_removal(after, trial.token, trial.edit.start)
    start = trial.edit.start + len(trial.edit.new) - len(trial.edit.new.lstrip())
    end = start + len(trial.edit.new.strip())
    return bool(misplaced_sign(after, start, end, replaced=trial.action == "replace"))


def _fewer(tree: SyntaxTree, before: list[Fault], after: SyntaxTree, left: list[Fault], edit: Edit) -> bool:
    """Whether there are fewer faults than before, and none of them is new."""
    line = after.document.line_of(edit.start)
    if any(after.document.line_of(fault.start) <= line <= after.document.line_of(fault.end) for fault in left):
        # what is left on the same line is likely the same fault
        return False
    return len(left) < len(before) and not find_new_tree_faults(tree, after, [edit])


def _compiles(tree: SyntaxTree) -> bool:
    return tree.language.id != "python" or find_python_fault(tree.data) is None


def _compiles_as_well(tree: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    """For Python, whether its compiler has nothing against the new text, or only something further down than before."""
    if tree.language.id != "python":
        return True
    now = find_python_fault(after.data)
    if now is None:
        return True
    was = find_python_fault(tree.data)
    if was is None:
        return False
    shift = len(edit.new) - (edit.end - edit.start)
    end_of_line = tree.data.find(b"\n", was.end)
    return end_of_line >= 0 and now.start > end_of_line + shift
