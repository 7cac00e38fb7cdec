"""The history of the session: what earlier turns did, and the errors that still exist."""

from collections.abc import Sequence

from lsp_harness.context.context_source import InstructionSource, SectionTitle, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.line_fitting import count_lines, fit_lines

REASON = "history of the session"


class SessionHistorySource(InstructionSource):
    """The source of the session history: the first lines that fit, as one fragment."""

    name = "session history"
    share = Share(("session_budget", "task_budget"))
    order = 60
    reasons = (REASON,)
    section = SectionTitle("session", "Earlier in this session", is_code=False)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        costs = await count_lines(self._inputs.session, self._inputs.count)
        lines, _ = fit_lines(self._inputs.session, costs, budget)
        if not lines:
            return ()
        text = "".join(f"{line}\n" for line in lines)
        return (Fragment(text, sum(costs[line] for line in lines), "", REASON),)
