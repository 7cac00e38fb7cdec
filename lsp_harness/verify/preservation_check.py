"""The check between syntax and lint: does the edit preserve the code that the finding is not about?

For a small model, the easiest way to remove a diagnostic is to remove the code: `total = sum(valeus)` becomes `total =
0`, which parses, has no finding, and is wrong. So this check compares the tokens before and after the edit. A table
says what an edit may change for each kind of finding. No model is asked.
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

ChangeRule = Callable[[Subject, TokenDifference, Change], str]
"""Returns what an edit changes beyond the subject of its finding, in words, or an empty text."""
CHANGE_RULES: Mapping[SubjectKind, ChangeRule] = {
    "name": check_name_repair,
    "removal": check_removal,
    "argument": check_argument_repair,
    "rule": check_rule_repair,
}


class PreservationCheck:
    """Fails an edit that drops, replaces or adds code that the finding is not about."""

    name = "kept"

    def __init__(self, subject: Subject | None = None) -> None:
        """Create the check for the subject of a finding. Without a subject it only reports what an edit drops."""
        self._subject = subject

    async def run(self, change: Change) -> Outcome:
        """Compare the tokens before and after the edit. Without a syntax tree, skip."""
        # other requests are answered while the texts are parsed and compared
        return await offload(len(change.after.data), lambda: self._compare(change))

    def _compare(self, change: Change) -> Outcome:
        began = perf_counter()
        if change.tree_before is None or change.tree_after is None:
            return Outcome(self.name, "skipped", reason=change.no_tree_reason)
        outcome = self._judge(change, compare_tokens(change.tree_before, change.tree_after, change))
        return replace(outcome, ms=(perf_counter() - began) * 1000)

    def _judge(self, change: Change, difference: TokenDifference) -> Outcome:
        subject = self._subject
        if subject is None or subject.kind == "test" or change.author == "rewrite":
            losses = difference.describe_losses()
            return Outcome(self.name, "skipped" if losses else "passed", reason=losses and f"the new code {losses}")
        if change.author == "linter":
            objection = difference.describe_lost_comments()
        elif subject.kind == "syntax":
            # the tree of a text with a syntax error takes names for keywords and code for strings
            difference = compare_lexemes(change)
            objection = check_syntax_repair(subject, difference, change)
        else:
            objection = CHANGE_RULES[subject.kind](subject, difference, change)
        if not objection:
            return Outcome(self.name, "passed")
        place = difference.place
        return Outcome(self.name, "failed", (Finding(place, place, objection, "lsp-harness", self.name),))


def count_changed_tokens(change: Change) -> int:
    """Return how many tokens an edit removes and adds, or how many bytes if there is no syntax tree."""
    if change.tree_before is None or change.tree_after is None:
        return sum(edit.end - edit.start + len(edit.new) for edit in change.edits)
    return compare_tokens(change.tree_before, change.tree_after, change).size
