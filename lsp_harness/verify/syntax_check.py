"""The first check: does the proposed text have a syntax error that was not there before?"""

from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import find_new_faults
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome


class SyntaxCheck:
    """Fails an edit that adds a syntax error."""

    name = "syntax"

    async def run(self, change: Change) -> Outcome:
        """Compare the syntax errors before and after the edit. Without a grammar, skip."""
        # other requests are answered while the texts are parsed
        return await offload(len(change.after.data), lambda: self._judge(change))

    def _judge(self, change: Change) -> Outcome:
        began = perf_counter()
        before, after = change.tree_before, change.tree_after
        if before is None or after is None:
            reason = change.no_tree_reason
            if before is None or not change.parse_failure_after:
                return Outcome(self.name, "skipped", reason=reason)
            # a text that cannot be parsed in time any more was broken by the edit
            place = change.edits[0].start if change.edits else 0
            finding = Finding(place, place, reason, "lsp-harness", "syntax")
            return Outcome(self.name, "failed", (finding,), reason)
        findings = tuple(
            Finding(f.start, f.end, f.message, "lsp-harness", "syntax")
            for f in find_new_faults(before, after, change.edits)
        )
        return Outcome(self.name, "failed" if findings else "passed", findings, ms=(perf_counter() - began) * 1000)
