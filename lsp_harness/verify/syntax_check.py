"""The first gate: does the proposed text have a syntax error that was not there before?"""

from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import find_new_faults
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome


class SyntaxCheck:
    name = "syntax"

    async def run(self, change: Change) -> Outcome:
        # other requests are answered while the texts are parsed
        return await offload(len(change.after.data), lambda: self._judged(change))

    def _judged(self, change: Change) -> Outcome:
        began = perf_counter()
        before, after = change.tree_before, change.tree_after
        if before is None or after is None:
            if before is None or not change.costly_after:
                return Outcome(self.name, "skipped", reason=change.no_tree)
            # what could be parsed before the edit, and cannot after it, is broken
            place = change.edits[0].start if change.edits else 0
            return Outcome(
                self.name, "failed", (Finding(place, place, change.no_tree, "lsp-harness", "syntax"),), change.no_tree
            )
        found = tuple(
            Finding(f.start, f.end, f.message, "lsp-harness", "syntax")
            for f in find_new_faults(before, after, change.edits)
        )
        return Outcome(self.name, "failed" if found else "passed", found, ms=(perf_counter() - began) * 1000)
