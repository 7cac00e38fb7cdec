"""The check between syntax and lint: does the edit preserve the code that the finding is not about?

For a small model, the easiest way to remove a diagnostic is to remove the code: `total = sum(valeus)` becomes `total =
0`, which parses, has no finding, and is wrong. So this check compares the tokens before and after the edit. A table
says what an edit may change for each kind of finding. No model is asked.
"""

from collections.abc import Callable, Mapping

from lsp_harness.process.offload import offload
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import CheckContext, DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import Subject, SubjectKind
from lsp_harness.verify.preservation.allowed_changes import (
    check_argument_repair,
    check_name_repair,
    check_removal,
    check_syntax_repair,
)
from lsp_harness.verify.preservation.rule_changes import check_rule_repair
from lsp_harness.verify.preservation.token_difference import TokenDifference, compare_lexemes, compare_tokens

ChangeRule = Callable[[Subject, TokenDifference, Change], str]
"""Returns what an edit changes beyond the subject of its finding, in words, or an empty text."""
CHANGE_RULES: Mapping[SubjectKind, ChangeRule] = {
    "name": check_name_repair,
    "removal": check_removal,
    "argument": check_argument_repair,
    "rule": check_rule_repair,
}


class PreservationCheck(DocumentCheck):
    """Fails an edit that drops, replaces or adds code that the finding is not about."""

    name = "kept"
    title = "kept"
    feedback_label = "NOT KEPT"
    criterion = (
        "the edit drops, replaces or adds no code that the diagnostic is not about "
        "([ADR 15](adr/0015-a-fix-keeps-the-code.md)). Else the message says what was lost: "
        "``NOT KEPT: the edit drops the call `sum()` and adds `0` ``"
    )
    setting = "kept"
    is_about_finding = True

    def __init__(self, subject: Subject | None = None) -> None:
        """Create the check for the subject of a finding. Without a subject it only reports what an edit drops."""
        self._subject = subject

    @classmethod
    def create(cls, context: CheckContext) -> "PreservationCheck | None":
        """Return the check for the repair of a finding. Other edits may change any code."""
        return cls(context.subject) if context.finding and context.subject else None

    def skip_reason(self, change: Change) -> str | None:
        """Return why one of the two texts has no syntax tree to compare, or None if both have one."""
        return None if change.tree_before and change.tree_after else change.no_tree_reason

    async def run(self, change: Change) -> Outcome:
        """Compare the tokens before and after the edit."""
        # other requests are answered while the texts are compared
        return await offload(len(change.after.data), lambda: self._compare(change))

    def format_finding(self, finding: Finding, document: Document) -> str:
        del document
        return f"{self.feedback_label}: the edit {finding.message}"

    def _compare(self, change: Change) -> Outcome:
        assert change.tree_before
        assert change.tree_after
        difference = compare_tokens(change.tree_before, change.tree_after, change)
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
