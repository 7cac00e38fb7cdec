"""The second check: does the linter report something about the proposed text that it did not report before?"""

from collections import Counter
from pathlib import Path

from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.document_check import DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import identity
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

BEHAVIOUR_RULES = ("invalid-syntax", "E9", "F", "B", "PLE", "PLW", "ASYNC", "RUF0")
"""Prefixes of ruff's rules about what the code does. The other rules are about its style."""


def is_python(document: Document, file: Path) -> bool:
    """Return whether ruff can read a text."""
    language = find_language_of_file(file.name)
    return any(spec and spec.linter == "ruff" for spec in (find_language(document.language), language))


def find_new_findings(change: Change, before: list[Finding], after: list[Finding]) -> tuple[Finding, ...]:
    """Return the findings after a change that are not among those before it, in the order of the text."""
    old_counts = Counter(identity(finding) for finding in before)
    new: list[Finding] = []
    # of equal findings, those away from the edits are the old ones, so they are matched first
    for finding in sorted(after, key=lambda f: change.touches(f.start, f.end)):
        key = identity(finding)
        if old_counts[key] > 0:
            old_counts[key] -= 1
        else:
            new.append(finding)
    if any(finding.code == "invalid-syntax" for finding in before):
        # ruff reports little else about a text that does not parse, so most findings of the repaired text are old ones
        new = [finding for finding in new if _is_in_repaired_text(change, finding)]
    if change.author == "repair":
        # a rule about style may object to the correct name and not to the misspelt one; the repair is right
        # nevertheless
        new = [finding for finding in new if finding.code.startswith(BEHAVIOUR_RULES)]
    return tuple(sorted(new, key=lambda f: f.start))


def _is_in_repaired_text(change: Change, finding: Finding) -> bool:
    """Return whether a finding lies in changed text or, if it is about an unknown name, on a changed line."""
    if finding.code != "F821":
        return change.touches(finding.start, finding.end)
    start, end = change.after.line_span(change.after.line_of(finding.start))
    return change.touches(start + 1, end - 1)


class LintCheck(DocumentCheck):
    """Fails an edit that adds findings of ruff."""

    name = "lint"
    title = "lint"
    feedback_label = "LINT"
    criterion = (
        "ruff has no new diagnostic. For a repair of one token, new style diagnostics do not count, because the fault "
        "had hidden them"
    )
    setting = "lint"

    def __init__(self, ruff: Ruff) -> None:
        self._ruff = ruff

    @classmethod
    def create(cls, context: CheckContext) -> "LintCheck":
        return cls(context.tools.ruff)

    def skip_reason(self, change: Change) -> str | None:
        """Return why the change is not linted: it is not Python, or ruff is not installed. None if it can be linted."""
        if not is_python(change.before, change.file):
            return f"no linter is known for {change.file.suffix or 'this text'}"
        return self._ruff.missing_reason or None

    async def run(self, change: Change) -> Outcome:
        """Compare ruff's findings before and after the edit. Skip if ruff fails."""
        try:
            before = [r.finding for r in await self._ruff.check(change.before, change.file, change.root)]
            after = [r.finding for r in await self._ruff.check(change.after, change.file, change.root)]
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)
        new = find_new_findings(change, before, after)
        return Outcome(self.name, "failed" if new else "passed", new)
