"""A check that reads one document of a proposal at a time."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from lsp_harness.process.offload import offload
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome, Status


class DocumentCheck(Check):
    """A question about the change of one document. A check that is about a finding reads only the main document."""

    def skip_reason(self, change: Change) -> str | None:
        """Return why the check cannot run for a change, or None if it can. This may parse a long text."""
        del change
        return None

    @abstractmethod
    async def run(self, change: Change) -> Outcome:
        """Return the outcome. Never raise because of the text, only because of a bug."""

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Run the check on each document, and combine the outcomes."""
        targets = [changes.main] if self.is_about_finding else changes.changes
        outcomes = [await self._judge_document(change) for change in targets]
        return outcomes[0] if len(outcomes) == 1 else _combine(changes, outcomes)

    async def _judge_document(self, change: Change) -> Outcome:
        # other requests are answered while a long text is parsed
        reason = await offload(len(change.after.data), lambda: self.skip_reason(change))
        if reason is not None:
            return Outcome(self.name, "skipped", reason=reason)
        outcome = await self.run(change)
        return replace(outcome, lines=tuple(self.format_finding(finding, change.after) for finding in outcome.findings))


def _combine(changes: ChangeSet, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of one check for all documents. Its `findings` are those of the main document.

    The lines of the other documents begin with their path. The check passed if it passed for one document and failed
    for none.
    """
    main = outcomes[0]
    statuses = {outcome.status for outcome in outcomes}
    status: Status = "failed" if "failed" in statuses else "passed" if "passed" in statuses else "skipped"
    lines = list(main.lines)
    for change, outcome in zip(changes.changes[1:], outcomes[1:], strict=True):
        lines += [f"{change.file.name}: {line}" for line in outcome.lines]
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    return replace(main, status=status, reason=reasons, lines=tuple(lines))
