"""The last check of a fix: is the finding gone from the proposed text?

Only what we can ask about can be answered. A rule of ruff is asked of ruff, a syntax error of the parser; another server's finding is held to be
gone when a finding of ours at the same place is. Where we have none the check is skipped and says who could answer.

A finding is the same one by its rule, its place moved through the edits, and the names it is about; never by its message, which may quote text
that the edit changes.
"""

import re
from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.syntax.remaining_errors import remaining_faults
from lsp_harness.syntax.syntax_errors import python_fault, regions
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import identity, is_at_place
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

RULE_CODE = re.compile(r"[A-Z]{1,5}\d{1,4}\Z")
SHARED_RULES = ("F", "E9", "invalid-syntax")
"""Rules that report what type checkers and compilers report too: unknown names, unused things, broken syntax."""


class ResolvedCheck:
    """Fails an edit after which `finding` is still there."""

    name = "gone"

    def __init__(self, ruff: Ruff, finding: Finding) -> None:
        self._ruff = ruff
        self._finding = finding

    async def run(self, change: Change) -> Outcome:
        began = perf_counter()
        try:
            outcome = await offload(len(change.after.data), lambda: self._syntax(change)) or await self._linted(change)
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)
        return Outcome(self.name, outcome.status, outcome.findings, outcome.reason, (perf_counter() - began) * 1000)

    def _syntax(self, change: Change) -> Outcome | None:
        """The outcome for a syntax error; None where the finding is none."""
        before, after = change.tree_before, change.tree_after
        if before is None or after is None or find_subject(self._finding, change.before, before).kind != "syntax":
            return None
        if not regions(before) and (before.language.id != "python" or python_fault(before.data) is None):
            return Outcome(self.name, "skipped", reason="the text parses without it")
        left = remaining_faults(before, after, change.edits, Span(self._finding.start, self._finding.end))
        findings = tuple(Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in left[:1])
        return Outcome(self.name, "failed" if left else "passed", findings)

    async def _linted(self, change: Change) -> Outcome:
        place = Span(self._finding.start, self._finding.end)
        before = await self.known(change.before, change)
        here = [found for found in before if is_at_place(found, place)]
        if not here:
            who = self._finding.source or "the tool that reported it"
            return Outcome(self.name, "skipped", reason=f"only {who} can say whether it is gone")
        kinds = {identity(found) for found in here}
        elsewhere = sum(identity(found) in kinds for found in before) - len(here)
        left = [found for found in await self.known(change.after, change) if identity(found) in kinds]
        if len(left) <= elsewhere:
            return Outcome(self.name, "passed")
        nearest = min(left, key=lambda found: not change.touched(found.start, found.end))
        return Outcome(self.name, "failed", (nearest,))

    async def known(self, document: Document, change: Change) -> list[Finding]:
        """What ruff says of a text by the rule of the finding, or by those that compilers have too. Raises RuffFailed."""
        if not is_python(document, change.file) or self._ruff.missing:
            return []
        code = self._finding.code if RULE_CODE.match(self._finding.code) else ""
        reports = await self._ruff.check(document, change.file, change.root, select=code)
        return [report.finding for report in reports if code or report.finding.code.startswith(SHARED_RULES)]
