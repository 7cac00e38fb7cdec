"""The check between syntax and lint: does the edit keep the code that the finding is not about?

A small model makes a diagnostic go away most cheaply by throwing the code away: `total = sum(valeus)` becomes `total = 0`, which parses, is
clean, and is wrong. So the tokens before and after are compared, and what a finding of this kind may change is a table. No model is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.verify.allowed_changes import (
    check_argument_repair,
    check_name_repair,
    check_removal,
    check_rule_repair,
    check_syntax_repair,
)
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import Subject, SubjectKind
from lsp_harness.verify.token_difference import TokenDifference, compare_lexemes, compare_tokens

Remedy = Callable[[Subject, TokenDifference, Change], str]
"""Says what an edit changes that a finding of this kind does not ask for; empty where it changes nothing else."""
REMEDIES: Mapping[SubjectKind, Remedy] = {
    "name": check_name_repair,
    "removal": check_removal,
    "argument": check_argument_repair,
    "rule": check_rule_repair,
}


class PreservationCheck:
    """Fails an edit that drops, replaces or adds code beyond what `subject` is about; without a subject it says what an edit drops."""

    name = "kept"

    def __init__(self, subject: Subject | None = None) -> None:
        self._subject = subject

    async def run(self, change: Change) -> Outcome:
        # other requests are answered while the texts are parsed and compared
        return await offload(len(change.after.data), lambda: self._compared(change))

    def _compared(self, change: Change) -> Outcome:
        began = perf_counter()
        if change.tree_before is None or change.tree_after is None:
            return Outcome(self.name, "skipped", reason=change.no_tree)
        outcome = self._judged(change, compare_tokens(change.tree_before, change.tree_after, change))
        return replace(outcome, ms=(perf_counter() - began) * 1000)

    def _judged(self, change: Change, found: TokenDifference) -> Outcome:
        subject = self._subject
        if subject is None or subject.kind == "test" or change.author == "rewrite":
            lost = found.losses()
            return Outcome(self.name, "skipped" if lost else "passed", reason=lost and f"the new code {lost}")
        if change.author == "linter":
            said = found.lost_comments()
        elif subject.kind == "syntax":
            # the tree of a text that does not parse takes names for keywords and code for strings
            found = compare_lexemes(change)
            said = check_syntax_repair(subject, found, change)
        else:
            said = REMEDIES[subject.kind](subject, found, change)
        if not said:
            return Outcome(self.name, "passed")
        return Outcome(self.name, "failed", (Finding(found.place, found.place, said, "lsp-harness", self.name),))


def count_changed_tokens(change: Change) -> int:
    """How many tokens an edit removes and adds: the size of a repair. Bytes where there is no grammar."""
    if change.tree_before is None or change.tree_after is None:
        return sum(edit.end - edit.start + len(edit.new) for edit in change.edits)
    return compare_tokens(change.tree_before, change.tree_after, change).size
