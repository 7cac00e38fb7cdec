"""The check by the model itself: does it say that a proposal addresses the task?"""

from typing import ClassVar

from lsp_harness.errors import HarnessError
from lsp_harness.text.document import Document
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check, CheckContext
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.review.reviewer import Reviewer


class ReviewCheck(Check):
    """Asks for an opinion. It is recorded, and it fails an edit only if the settings say so.

    Args:
        reviewer: Asks the model.
        task: The request in words.
        can_veto: Whether a NO fails the edit.
    """

    name = "review"
    title = "review"
    feedback_label = "REVIEW"
    criterion = (
        "the model answers YES when it is asked whether the change addresses the task. A NO fails the edit only with "
        '`diff_review = "veto"`, and a YES alone never lets it pass. See [Review](review.md)'
    )
    setting = "diff_review"
    is_slow: ClassVar[bool] = True

    def __init__(self, reviewer: Reviewer, task: str, *, can_veto: bool = False) -> None:
        self._reviewer, self._task, self._can_veto = reviewer, task, can_veto

    @classmethod
    def create(cls, context: CheckContext) -> "ReviewCheck | None":
        """Return the check, or None if there is no task or no model."""
        reviewer = context.tools.reviewer
        if reviewer is None or not context.task.strip():
            return None
        return cls(reviewer, context.task, can_veto=context.settings.diff_review == "veto")

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return an empty text: the opinion of a model is no evidence, so nobody misses it."""
        del context
        return ""

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Ask the model, and record its answer with the probability."""
        try:
            review = await self._reviewer.review(self._task, changes)
        except HarnessError as error:
            return Outcome(self.name, "skipped", reason=error.message)
        if review.is_yes:
            return Outcome(self.name, "passed", reason=str(review), is_opinion=True)
        if not self._can_veto:
            return Outcome(self.name, "skipped", reason=f"{review}; it has no veto", is_opinion=True)
        start = changes.main.start
        finding = Finding(start, start, "the model says that this change does not address the task", "review", "NO")
        return Outcome(self.name, "failed", (finding,), str(review), is_opinion=True)

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return the line "REVIEW: NO"."""
        del document
        return f"{self.feedback_label}: {finding.code}"
