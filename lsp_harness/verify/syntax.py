"""The first gate: does the proposed text have a syntax error that was not there before?"""

from time import perf_counter

from lsp_harness.syntax.faults import new_faults
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome


class SyntaxCheck:
    name = "syntax"

    async def run(self, change: Change) -> Outcome:
        began = perf_counter()
        before, after = change.tree_before, change.tree_after
        if before is None or after is None:
            reason = f"no grammar for {change.before.language or change.file.suffix or 'this text'}"
            return Outcome(self.name, "skipped", reason=reason)
        found = tuple(
            Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in new_faults(before, after, change.edits)
        )
        return Outcome(self.name, "failed" if found else "passed", found, ms=(perf_counter() - began) * 1000)
