"""A check that does not run. The verdict lists it as skipped, with the reason, so that nobody takes it for passed."""

from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome


class AbsentCheck(Check):
    """The place of a check that the settings switch off, or that cannot run here.

    Args:
        check: The check.
        reason: Why it does not run.
    """

    def __init__(self, check: type[Check] | Check, reason: str) -> None:
        # the attributes of a check belong to its class, and this one stands for any of them
        self.name, self.title = check.name, check.title  # pyright: ignore[reportAttributeAccessIssue]
        self.feedback_label = check.feedback_label  # pyright: ignore[reportAttributeAccessIssue]
        self._reason = reason

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Return that the check was skipped."""
        del changes
        return Outcome(self.name, "skipped", reason=self._reason)
