"""The third gate of a fix: is the diagnostic gone from the proposed text?

Only what we can ask about can be answered. A ruff rule is asked of ruff; another server's diagnostic is held to be
gone when a ruff finding or syntax error at the same place is; where neither exists the check is skipped and says so.
"""

import re
from time import perf_counter

from lsp_harness.syntax.faults import faults
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.lint import PYTHON
from lsp_harness.verify.ruff import Ruff, RuffFailed

RULE = re.compile(r"[A-Z]{1,5}\d{1,4}\Z")
OURS = ("F", "E9", "invalid-syntax")
"""Rules that report what type checkers and compilers report too: unknown names, unused things, broken syntax."""


class GoneCheck:
    name = "gone"

    def __init__(self, ruff: Ruff, finding: Finding) -> None:
        self._ruff = ruff
        self._finding = finding

    async def run(self, change: Change) -> Outcome:
        try:
            return await self._run(change)
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)

    async def _run(self, change: Change) -> Outcome:
        began = perf_counter()
        here = (self._finding.start, max(self._finding.end, self._finding.start + 1))
        # what is missing is missing at the end of what is marked
        before = [
            f
            for f in await self._found(change.before, change)
            if f.end >= here[0] and (f.start < here[1] or f.start == f.end == here[1])
        ]
        if not before:
            who = self._finding.source or "the tool that reported it"
            return Outcome(self.name, "skipped", reason=f"only {who} can say whether it is gone")
        keys = {(f.code, f.message) for f in before}
        count_before = sum((f.code, f.message) in keys for f in await self._found(change.before, change))
        left = [f for f in await self._found(change.after, change) if (f.code, f.message) in keys]
        ms = (perf_counter() - began) * 1000
        if len(left) <= count_before - len(before):
            return Outcome(self.name, "passed", ms=ms)
        near = sorted(left, key=lambda f: not change.touched(f.start, f.end))
        return Outcome(self.name, "failed", (near[0],), ms=ms)

    async def _found(self, document: Document, change: Change) -> list[Finding]:
        if change.file.suffix in PYTHON or document.language == "python":
            if self._ruff.missing:
                return []
            code = self._finding.code if RULE.match(self._finding.code) else ""
            reports = await self._ruff.check(document, change.file, change.root, select=code)
            return [r.finding for r in reports if code or r.finding.code.startswith(OURS)]
        tree = parse(document)
        return [Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in faults(tree)] if tree else []
