"""Repairs the closest attempt at an instruction, if it leaves tests failing.

A small model that is told what is wrong with its code seldom corrects it. The ladder of the repair of failing tests
finds the wrong statement by the tests instead, and tries other texts there.
"""

from collections.abc import Sequence
from dataclasses import replace

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.ladder.repair_tests import RepairTests, find_failures
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.errors import NoAnswer
from lsp_harness.text.edit import Edit, line_edits
from lsp_harness.text.position import Span

ATTEMPT_REPAIR_S = 30.0


async def repair_attempt(context: TurnContext, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
    """Return the edits of the document that make the attempt pass its tests, or none.

    Args:
        context: The document, before the attempt, and the tools.
        attempt: A candidate that failed the tests.
        states: The states of the turn.
    """
    document, edit = attempt.change.after, attempt.change.edits[0]
    # the repair is a part of this turn, as an item of a plan is: it neither completes nor fails it
    inner = replace(context, document=document, base=context.document, states=states, item=context.item or 0)
    titles = {finding.code for finding in attempt.verdict.outcomes[-1].findings}
    try:
        trace = (await find_failures(inner)).limit_to(titles)
        span = Span(edit.start, edit.start + len(edit.new))
        proposal = await RepairTests(inner, trace, span, limit_s=ATTEMPT_REPAIR_S).run()
    except NoAnswer:
        return ()
    return line_edits(context.document.data, proposal.changes.main.after.data)
