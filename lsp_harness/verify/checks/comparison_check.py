"""A check that asks a tool about all documents of a proposal at once: what does it find only after the proposal?"""

from abc import abstractmethod

from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.project_tools.new_findings import Comparison, NothingComparedError


class ComparisonCheck(Check):
    """A question that fails a proposal for what it adds. What was there before does not count."""

    @abstractmethod
    async def compare(self, changes: ChangeSet) -> Comparison:
        """Return what is new.

        Raises:
            NothingComparedError: No tool can say anything about the proposal.
        """

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Compare, and return the new findings. Those of other documents than the main one are lines with a path."""
        try:
            comparison = await self.compare(changes)
        except NothingComparedError as error:
            return Outcome(self.name, "skipped", reason=str(error), is_temporary=error.is_temporary)
        lines: list[str] = []
        for new in sorted(comparison.new, key=lambda new: new.change is not changes.main):
            line = self.format_finding(new.finding, new.change.after)
            lines.append(line if new.change is changes.main else f"{new.change.file.name}: {line}")
        findings = tuple(new.finding for new in comparison.new if new.change is changes.main)
        status = "failed" if comparison.new else "passed"
        return Outcome(self.name, status, findings, "; ".join(comparison.refusals), lines=tuple(lines))
