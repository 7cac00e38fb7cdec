"""The repairs of slips as candidates: only those that make the failing tests pass reach the checks."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks, create_changes
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.ladder.slip_kinds import SlipRepair
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.inference.request import Usage
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.project_tests.failing_tests import FailingTests
from lsp_harness.verify.project_tests.suite_worker import VariantResult

FIRST_BATCH_SIZE, BATCH_SIZE, BATCH_S = 24, 72, 12.0
"""The repairs that are tried in one process, first and then, and the seconds that it gets for them."""
ALONE_SIZE = 4
"""Repairs that need a run of their own, after each batch."""
MIN_RIVAL_S, MAX_RIVAL_S = 1.0, 5.0
"""Seconds in which other repairs are looked for when one has passed: as long as it took to find it, within these."""
MAX_RIVAL_COST = 1.5
"""A repair that costs so much more than one that passed is no rival of it."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate with the changes that it makes."""

    candidate: Candidate
    changes: ChangeSet


@dataclass(slots=True)
class SlipSource:
    """Yields the repairs of slips as candidates (see `CandidateSource`).

    Attributes:
        context: The document and the tools.
        repairs: The repairs, the likeliest first.
        failing: The failing tests, which run alone, or None if all tests must run.
        checked: The candidates that were checked. The driver adds to them.
        limit_s: The seconds after which no other repair is tried.
    """

    context: TurnContext
    repairs: Sequence[SlipRepair]
    failing: FailingTests | None
    checked: CandidateChecks
    limit_s: float
    refusal: str = ""
    _start_s: float = field(default=0.0, init=False)
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
        self._start_s = monotonic()
        waiting, alone, size = list(zip(plan.numbers, self.repairs, strict=True)), list[Proposed](), FIRST_BATCH_SIZE
        seen, late = {self.context.document.hash}, list[Proposed]()
        while waiting or late or alone:
            batch = late
            while waiting and len(batch) < size:
                number, repair = waiting.pop(0)
                batch += self._propose(replace(plan, kind=repair.kind), number, repair, seen)
            size = BATCH_SIZE
            results = await self._judge(batch)
            for proposed in await self._judge_rest(_select(batch, results, "passed")):
                yield proposed.candidate
                await self._wait_until_checked(proposed)
                if self._is_over(proposed.candidate.cost):
                    return
            late, alone = _select(batch, results, "late"), [*alone, *_select(batch, results, "open")]
            tried, alone = (alone[:ALONE_SIZE], alone[ALONE_SIZE:])
            for proposed in tried:
                if self._is_over(proposed.candidate.cost):
                    break
                if self.failing is None or await self.failing.repairs(proposed.changes):
                    yield proposed.candidate
                    await self._wait_until_checked(proposed)
            if self._is_over(min((repair.cost for _, repair in waiting), default=0.0)):
                return

    async def _judge_rest(self, passing: "Sequence[Proposed]") -> "list[Proposed]":
        """Return those candidates that fail no other test of the suite, as far as a quick run shows it."""
        if self.failing is None or not passing:
            return list(passing)
        results = await self.failing.judge_rest([proposed.changes.main for proposed in passing], BATCH_S)
        return [proposed for proposed, result in zip(passing, results, strict=True) if result != "failed"]

    async def _wait_until_checked(self, proposed: "Proposed") -> None:
        """Wait for the checks of a candidate, which need the same process of the tests."""
        while all(result.changes.hash != proposed.changes.hash for result in self.checked.results):
            self.checked.has_result.clear()
            await self.checked.has_result.wait()

    def _propose(self, plan: CandidatePlan, number: int, repair: SlipRepair, seen: set[str]) -> "list[Proposed]":
        """Return a repair as a candidate, or nothing if another one had its text or if it cannot be parsed."""
        candidate = Candidate(number, plan, repair.edits, Usage(), cost=repair.cost)
        changes = create_changes(self.context, candidate.edits, candidate.author)
        if changes.hash in seen or not _can_parse(changes):
            return []
        seen.add(changes.hash)
        return [Proposed(candidate, changes)]

    async def _judge(self, batch: "Sequence[Proposed]") -> Sequence[VariantResult]:
        """Return the result of the failing tests for each candidate. Some of them are "open"."""
        unknown: list[VariantResult] = ["open"] * len(batch)
        if self.failing is None:
            return unknown
        results = await self.failing.judge([proposed.changes.main for proposed in batch], BATCH_S)
        # what is never tried must not be waited for
        return unknown if set(results) == {"late"} else results

    def _is_over(self, cost: float) -> bool:
        now_s = monotonic()
        if now_s > self._start_s + self.limit_s:
            return True
        passed = [result.candidate.cost for result in self.checked.results if result.verdict.passed]
        if not passed:
            return False
        if self._first_end_s is None:
            self._first_end_s = now_s + min(MAX_RIVAL_S, max(MIN_RIVAL_S, now_s - self._start_s))
        return now_s > self._first_end_s or cost > min(passed) + MAX_RIVAL_COST


def _can_parse(changes: ChangeSet) -> bool:
    before, after = changes.main.tree_before, changes.main.tree_after
    return not (after and after.root.has_error) or bool(before and before.root.has_error)


def _select(batch: Sequence[Proposed], results: Sequence[VariantResult], result: VariantResult) -> list[Proposed]:
    return [proposed for proposed, found in zip(batch, results, strict=True) if found == result]
