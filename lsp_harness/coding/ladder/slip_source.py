"""The repairs of slips as candidates: only those that make the failing tests pass reach the checks."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from lsp_harness.coding.candidates.candidate_checks import create_changes
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.ladder.slips.slip_kinds import SlipRepair
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.inference.request import Usage
from lsp_harness.verify.project_tests.failing_tests import FailingTests

MIN_RIVAL_S, MAX_RIVAL_S = 2.0, 10.0
"""Seconds in which other repairs are looked for when one has passed: as long as it took to find it, within these."""
MAX_RIVAL_COST = 1.5
"""A repair that costs so much more than one that passed is no rival of it."""


@dataclass(slots=True)
class SlipSource:
    """Yields the repairs of slips as candidates (see `CandidateSource`).

    Attributes:
        context: The document and the tools.
        repairs: The repairs, the likeliest first.
        failing: The failing tests, which run alone, or None if all tests must run.
        results: The candidates that were checked. The driver adds to them.
        limit_s: The seconds after which no other repair is tried.
    """

    context: TurnContext
    repairs: Sequence[SlipRepair]
    failing: FailingTests | None
    results: Sequence[CheckedCandidate]
    limit_s: float
    refusal: str = ""
    _first_end_s: float | None = field(default=None, init=False)

    def plan(self) -> list[list[CandidatePlan]]:
        """Return the plan of all repairs, as one round."""
        numbers = tuple(range(1, len(self.repairs) + 1))
        return [[CandidatePlan("repair of a slip", 0.0, 0, numbers)]] if numbers else []

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        """Yield the repairs that make the failing tests pass, until one passed all checks and no rival is left."""
        del feedback
        on_evaluated()
        start_s, seen = monotonic(), {self.context.document.hash}
        for number, repair in zip(plan.numbers, self.repairs, strict=True):
            if self._is_over(start_s, repair.cost):
                return
            candidate = Candidate(number, replace(plan, kind=repair.kind), repair.edits, Usage(), cost=repair.cost)
            changes = create_changes(self.context, candidate.edits, candidate.author)
            if changes.hash in seen:
                continue
            seen.add(changes.hash)
            before, after = changes.main.tree_before, changes.main.tree_after
            if after and after.root.has_error and not (before and before.root.has_error):
                continue
            if self.failing is None or await self.failing.repairs(changes):
                yield candidate

    def _is_over(self, start_s: float, cost: float) -> bool:
        now_s = monotonic()
        if now_s > start_s + self.limit_s:
            return True
        passed = [result.candidate.cost for result in self.results if result.verdict.passed]
        if not passed:
            return False
        if self._first_end_s is None:
            self._first_end_s = now_s + min(MAX_RIVAL_S, max(MIN_RIVAL_S, now_s - start_s))
        return now_s > self._first_end_s or cost > min(passed) + MAX_RIVAL_COST
