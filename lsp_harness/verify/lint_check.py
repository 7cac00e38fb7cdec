"""The second gate: does the project's linter say something about the proposed text that it did not say before?"""

from collections import Counter
from pathlib import Path
from time import perf_counter

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import identity
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

PYTHON = {".py", ".pyi"}


def is_python(document: Document, file: Path) -> bool:
    """Whether ruff can read a text."""
    return document.language == "python" or file.suffix in PYTHON


MEANING = ("invalid-syntax", "E9", "F", "B", "PLE", "PLW", "ASYNC", "RUF0")
"""Beginnings of ruff's rules about what the code does; the other rules are about its style."""


def new(change: Change, before: list[Finding], after: list[Finding]) -> tuple[Finding, ...]:
    """Findings of `after` beyond those of `before`, the ones nearest to the edits first to be called new."""
    known = Counter(identity(finding) for finding in before)
    fresh: list[Finding] = []
    # findings away from the edits were there before: let them use up what is known first
    for finding in sorted(after, key=lambda f: change.touched(f.start, f.end)):
        key = identity(finding)
        if known[key] > 0:
            known[key] -= 1
        else:
            fresh.append(finding)
    if any(finding.code == "invalid-syntax" for finding in before):
        # ruff says little else about a text that does not parse: what it can say now was there all along
        fresh = [finding for finding in fresh if _is_of(change, finding)]
    if change.author == "repair":
        # a style rule says more of the right name than of the misspelt one, and it is no reason to leave that
        fresh = [finding for finding in fresh if finding.code.startswith(MEANING)]
    return tuple(sorted(fresh, key=lambda f: f.start))


def _is_of(change: Change, finding: Finding) -> bool:
    """Whether a finding stands where the text was mended; an unknown name, anywhere on that line."""
    if finding.code != "F821":
        return change.touched(finding.start, finding.end)
    start, end = change.after.line_span(change.after.line_of(finding.start))
    return change.touched(start + 1, end - 1)


class LintCheck:
    name = "lint"

    def __init__(self, ruff: Ruff) -> None:
        self._ruff = ruff

    async def run(self, change: Change) -> Outcome:
        if not is_python(change.before, change.file):
            return Outcome(self.name, "skipped", reason=f"no linter is known for {change.file.suffix or 'this text'}")
        if self._ruff.missing:
            return Outcome(self.name, "skipped", reason=self._ruff.missing)
        began = perf_counter()
        try:
            before = [r.finding for r in await self._ruff.check(change.before, change.file, change.root)]
            after = [r.finding for r in await self._ruff.check(change.after, change.file, change.root)]
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)
        found = new(change, before, after)
        return Outcome(self.name, "failed" if found else "passed", found, ms=(perf_counter() - began) * 1000)
