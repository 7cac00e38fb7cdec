"""Checks of the candidates of one turn. Every candidate and every verdict is an event of the session."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.finished_changes import finish_changes
from lsp_harness.coding.candidates.sampling import Candidate
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.events.code_events import (
    CandidateGenerated,
    CandidateRejected,
    ChecksCompleted,
    RecordedEdit,
)
from lsp_harness.text.edit import Edit, apply, line_edits
from lsp_harness.text.position import decode
from lsp_harness.text.surrogates import restore_surrogates
from lsp_harness.verify.change import Author, Change, ChangeSet
from lsp_harness.verify.check import Check, run_checks
from lsp_harness.verify.finding import Outcome, Verdict


@dataclass(slots=True)
class CandidateChecks:
    """The candidates of one task of a turn, with the verdicts about them.

    Attributes:
        context: The document and the tools.
        states: The states of the turn, which know the last number of its earlier tasks.
        finishes: Whether candidates are cleaned and formatted before they are checked.
        results: The candidates that were checked.
        count: The number of candidates, also of those that were not checked.
        has_unchanged: Whether a candidate was the present code.
        earlier_count: The number of candidates of earlier tasks of the turn.
        has_result: Set by each new result, for a source that waits for it.
    """

    context: TurnContext
    states: TurnStates
    finishes: bool = False
    results: list[CheckedCandidate] = field(default_factory=list[CheckedCandidate], init=False)
    count: int = field(default=0, init=False)
    has_unchanged: bool = field(default=False, init=False)
    earlier_count: int = field(default=0, init=False)
    has_result: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _repeats: Counter[str] = field(default_factory=Counter[str], init=False)
    """Hash of a text → how many further candidates had it."""

    def __post_init__(self) -> None:
        self.earlier_count = self.states.last_candidate

    @property
    def passed(self) -> list[CheckedCandidate]:
        """The candidates that passed."""
        return [result for result in self.results if result.verdict.passed]

    @property
    def failures(self) -> list[CheckedCandidate]:
        """The candidates that failed, the best first."""
        return sorted((result for result in self.results if not result.verdict.passed), key=lambda result: result.order)

    def find_attempts(self, checks: Sequence[Check]) -> list[CheckedCandidate]:
        """Return the candidates that failed a slow check only, by their findings and how often they were repeated."""
        slow = {check.name for check in checks if check.is_slow}
        attempts = [r for r in self.results if slow.intersection(item.check for item in r.verdict.outcomes[-1:])]
        return sorted(attempts, key=lambda result: (len(result.finding_lines), -self._repeats[result.changes.hash]))

    def number_in_turn(self, candidate: Candidate) -> int:
        """Return the number of a candidate in the turn, which may have had other tasks before this one."""
        return self.earlier_count + candidate.number

    def record(self, candidate: Candidate) -> None:
        """Record that a candidate was generated."""
        self.count += 1
        number, edits = self.number_in_turn(candidate), candidate.edits
        if base := self.context.base:
            edits = line_edits(base.data, apply(self.context.document.data, edits)) if edits else ()
        self.states.last_candidate = max(self.states.last_candidate, number)
        self.context.turn.append(_create_event(number, candidate, edits, self.context.item))

    async def check(self, candidate: Candidate, checks: Sequence[Check]) -> None:
        """Check a candidate, unless it is empty or another one has the same text."""
        if not candidate.edits:
            self._reject(candidate, "nothing usable was generated")
            return
        changes, notes = create_changes(self.context, candidate.edits, candidate.author), ()
        if self.finishes:
            finished = await finish_changes(self.context, changes)
            changes, notes = finished.changes, finished.notes
        if changes.hash == self.context.document.hash:
            self.has_unchanged = True
            self._reject(candidate, "it changes nothing")
            return
        if twin := next((result for result in self.results if result.changes.hash == changes.hash), None):
            self._repeats[changes.hash] += 1
            self._reject(candidate, f"the same as candidate {self.number_in_turn(twin.candidate)}")
            return
        verdict = await self.judge(changes, checks, self.number_in_turn(candidate), notes)
        result = CheckedCandidate(candidate, changes, verdict)
        self.results.append(result)
        self.has_result.set()
        if not verdict.passed:
            self._reject(candidate, "; ".join(result.finding_lines) or "no check could run")

    async def check_again(self, checks: Sequence[Check]) -> list[CheckedCandidate]:
        """Run further checks on the candidates that passed, and return those that pass them too."""
        for index, result in enumerate(self.results):
            if result.verdict.passed:
                number = self.number_in_turn(result.candidate)
                verdict = await self.judge(result.changes, checks, number, result.verdict.outcomes)
                self.results[index] = again = replace(result, verdict=verdict)
                if not verdict.passed:
                    self._reject(result.candidate, "; ".join(again.finding_lines))
        return self.passed

    async def judge(
        self, changes: ChangeSet, checks: Sequence[Check], number: int, earlier: Sequence[Outcome] = ()
    ) -> Verdict:
        """Run checks and record the verdict.

        Args:
            changes: The edits to check.
            checks: The checks to run.
            number: The number of the candidate in the turn, or 0 for other edits.
            earlier: The outcomes of checks that the edits have passed already, and notes. The verdict begins with them.
        """
        verdict = await run_checks(changes, checks)
        # a check that was left out before may have run now
        names = {outcome.check for outcome in verdict.outcomes}
        kept = [outcome for outcome in earlier if outcome.check not in names]
        verdict = replace(verdict, outcomes=(*kept, *verdict.outcomes))
        self.context.turn.append(ChecksCompleted.from_verdict(verdict, number))
        return verdict

    def _reject(self, candidate: Candidate, reason: str) -> None:
        self.context.turn.append(CandidateRejected(self.number_in_turn(candidate), reason))


def create_changes(context: TurnContext, edits: Sequence[Edit], author: Author) -> ChangeSet:
    """Return edits of the document of a turn as a proposal."""
    document = context.document
    # prompts have no lone surrogates: they are restored where the model repeats the text
    restored = [edit._replace(new=restore_surrogates(edit.new, document.data[edit.start : edit.end])) for edit in edits]
    return ChangeSet.of(Change.from_edits(document, restored, context.file, context.root, author))


def _create_event(number: int, candidate: Candidate, edits: Sequence[Edit], item: int | None) -> CandidateGenerated:
    plan, usage = candidate.plan, candidate.usage
    return CandidateGenerated(
        number,
        plan.kind,
        candidate.temperature,
        candidate.seed,
        text="\n".join(decode(edit.new) for edit in candidate.edits),
        evaluated=usage.evaluated,
        reused=usage.reused,
        generated=usage.generated,
        edits=tuple(RecordedEdit(edit.start, edit.end, decode(edit.new)) for edit in edits),
        item=item,
    )
