"""Generates, checks and chooses candidates, round by round. Every turn that edits code uses it.

The table `turn_states.NEXT_STATES` decides what comes next; the model only fills gaps. Every state and every candidate
is an event of the session, and no edit is proposed without a passed verdict on the same bytes.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.prompt_waves import CandidateSource, generate_waves
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.context.lookup.package_documentation import describe_package_uses
from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.inference.request import Usage
from lsp_harness.session.events.code_events import (
    CandidateGenerated,
    CandidateRejected,
    ChecksCompleted,
    EditProposed,
    OutputRead,
    RecordedEdit,
)
from lsp_harness.session.results import Progress, Proposal
from lsp_harness.text.edit import Edit, apply, diff, line_edits
from lsp_harness.text.position import decode
from lsp_harness.text.surrogates import restore_surrogates
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import Author, Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.check_runner import run_checks
from lsp_harness.verify.finding import Verdict

AMBIGUOUS_COST = 0.3
"""Repairs are equally likely if their costs differ by no more."""
MAX_REPAIRS = 12
"""Most repairs of one finding that are checked."""
UNCHANGED = "UNCHANGED: this is the code as it was; the instruction is not done yet"
"""The feedback if nothing but the present code was generated."""
MAX_FEEDBACK_CANDIDATES = 3
"""Most failed candidates whose findings the next prompt repeats."""

REPAIRED_ATTEMPT = "repaired attempt"
"""The kind of a candidate whose tests failed, with a repair of the statement that they blame."""
MAX_ACCEPTABLE = 3
"""Most failed candidates that are checked again by the required checks alone."""

RepairChoice = Callable[[Sequence[CheckedCandidate]], Awaitable[CheckedCandidate | None]]
"""Returns one of several equally likely repairs, or None."""


class CandidatePolicy(Protocol):
    """Decides about the candidates of a turn (see `EditTask`).

    Attributes:
        checks_in_order: Whether candidates are checked one after another in the order of their numbers, and not as soon
            as they are complete.
    """

    checks_in_order: ClassVar[bool]

    def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
        """Return the best of the candidates that passed."""
        ...

    def is_decided(self, passed: Sequence[CheckedCandidate]) -> bool:
        """Return whether no candidate that is still being generated can be better than those that passed."""
        ...

    def create_required_checks(self) -> Sequence[Check]:
        """Return the checks that decide if no candidate passes all checks."""
        ...

    async def repair_attempt(self, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
        """Return the edits of the document that make an attempt pass the tests, or none."""
        ...


@dataclass(slots=True)
class TurnDriver:
    """The loop of one turn: it generates candidates, checks them and chooses one.

    Attributes:
        context: The document and the tools.
        checks: The checks that a candidate must pass.
        policy: Decides about the candidates.
        results: The candidates with their verdicts.
        candidate_count: The number of candidates until now.
        states: The state of the turn.
    """

    context: TurnContext
    checks: Sequence[Check]
    policy: CandidatePolicy
    results: list[CheckedCandidate] = field(default_factory=list[CheckedCandidate])
    candidate_count: int = 0
    states: TurnStates = field(init=False)
    _repeats: Counter[str] = field(default_factory=Counter[str], init=False)
    _planned_count: int = 0
    _earlier_candidates: int = field(default=0, init=False)
    _has_unchanged: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.states = self.context.states or TurnStates(self.context.turn)
        self._earlier_candidates = self.states.last_candidate

    async def run(self, steps: Callable[[], Awaitable[Proposal]]) -> Proposal:
        """Run the steps of the turn and record its states. Call it once.

        Args:
            steps: Returns the proposal.
        """
        try:
            if self.states.current is None:
                self.states.enter("UNDERSTAND")
            if output := self.context.output:
                self.context.turn.append(OutputRead(output.tool, output.summary))
            return await steps()
        except HarnessError as error:
            self._enter_failed(error.message)
            raise
        except BaseException:
            # cancelled, or a bug: the log must not end in the middle of a state
            if self.context.item is None:
                self.states.enter("CANCELLED")
            raise

    async def check_edits(self, edits: Sequence[Edit], maker: str) -> Proposal:
        """Check the edits of a linter and propose them. `maker` is the subject of the message to the user."""
        self.states.enter("VERIFY")
        changes = _create_changes(self.context, edits, "linter")
        verdict = await run_checks(changes, self._quick_checks)
        self.context.turn.append(ChecksCompleted.from_verdict(verdict, candidate=0))
        if not verdict.passed:
            raise self.fail(f"{maker} does not pass the checks here")
        return self._propose(changes, verdict, maker, is_by_model=False)

    async def try_repairs(self, repairs: Sequence[Repair], choose: RepairChoice) -> Proposal | None:
        """Propose the most likely repair that passes the checks.

        Args:
            repairs: The repairs, the most likely first.
            choose: Chooses among the repairs that pass and are equally likely.

        Returns:
            The proposal, or None if no repair passes.

        Raises:
            NoAnswer: `choose` chose none of them.
        """
        if not repairs:
            return None
        self.states.enter("GENERATE", round=0)
        passed: list[CheckedCandidate] = []
        for number, repair in enumerate(repairs[:MAX_REPAIRS], 1):
            if passed and repair.cost > passed[0].candidate.cost + AMBIGUOUS_COST:
                break
            plan = CandidatePlan(repair.kind, 0.0, 0, (number,))
            candidate = Candidate(number, plan, repair.edits, Usage(), repair.author, repair.cost)
            self._record_candidate(candidate)
            self.states.enter_verify(0)
            # a learned fix was made by a model
            await self._check_candidate(candidate, self.checks if repair.learned_id else self._quick_checks)
            passed = self._passed()
        if not passed:
            return None
        best = passed[0] if len(passed) == 1 else await choose(passed)
        if best is None:
            texts = " or ".join(f"`{result.first_changed_line}`" for result in passed[:3])
            raise self.fail(f"several repairs are equally likely: {texts}; choose one yourself")
        return self._propose(best.changes, best.verdict, best.candidate.plan.kind, is_by_model=len(passed) > 1)

    async def generate(self, source: CandidateSource, rounds: Sequence[Sequence[CandidatePlan]]) -> Proposal:
        """Propose the best candidate of the first round in which one passes.

        Args:
            source: Generates the candidates.
            rounds: The plans of each round. A round gets the findings of the candidates that failed before it.

        Raises:
            NoAnswer: No candidate passes.
        """
        self._planned_count = sum(len(plan.numbers) for plans in rounds for plan in plans)
        if self.context.item:
            # other items of the plan may be written at the same time
            self._earlier_candidates = self.states.reserve(self._planned_count)
        for number, plans in enumerate(rounds):
            reason = _describe_round(plans, self.context, self._earlier_candidates)
            self.states.enter("GENERATE", round=number, reason=reason)
            if passed := await self._run_round(source, plans, number):
                return self._propose_candidate(self.policy.choose(passed))
        if best := await self._repair_closest(len(rounds)) or await self._find_acceptable():
            return self._propose_candidate(best)
        best_failures = self._best_failures()[:1]
        closest = [f"the closest is {r.describe_failure(self._number(r.candidate))}" for r in best_failures]
        reasons = closest or [source.refusal] * bool(source.refusal)
        raise self.fail("; ".join(["no candidate passed the checks", *reasons]))

    async def _repair_closest(self, round: int) -> CheckedCandidate | None:
        """Return the closest attempt with its repair, if this passes all checks."""
        for attempt in _find_attempts(self.results, self.checks, self._repeats)[:1]:
            if edits := await self.policy.repair_attempt(attempt, self.states):
                number = self.states.last_candidate - self._earlier_candidates + 1
                candidate = Candidate(number, CandidatePlan(REPAIRED_ATTEMPT, 0.0, 0, (number,)), tuple(edits), Usage())
                self._record_candidate(candidate)
                self.states.enter_verify(round)
                await self._check_candidate(candidate, self.checks)
        return next(iter(self._passed()), None)

    async def _find_acceptable(self) -> CheckedCandidate | None:
        """Return the best candidate that passes the required checks, or None."""
        checks = self.policy.create_required_checks()
        for result in _find_attempts(self.results, self.checks, self._repeats)[:MAX_ACCEPTABLE] if checks else ():
            verdict = await run_checks(result.changes, checks)
            self.context.turn.append(ChecksCompleted.from_verdict(verdict, self._number(result.candidate)))
            if verdict.passed:
                return replace(result, verdict=verdict)
        return None

    def _propose_candidate(self, best: CheckedCandidate) -> Proposal:
        chosen = self._number(best.candidate)
        # candidates with a higher number may be complete first
        maker = f"candidate {chosen} of {max(chosen, self._earlier_candidates + self.candidate_count)}"
        return self._propose(best.changes, best.verdict, maker)

    def fail(self, reason: str) -> NoAnswer:
        """Enter the state FAILED and return the error to raise."""
        self._enter_failed(reason)
        return NoAnswer(f"{reason[0].upper()}{reason[1:]}; nothing was changed")

    def _enter_failed(self, reason: str) -> None:
        if self.context.item is None and not self.states.has_ended:
            self.states.enter("FAILED", reason=reason)

    def _passed(self) -> list[CheckedCandidate]:
        return [result for result in self.results if result.verdict.passed]

    def _best_failures(self) -> list[CheckedCandidate]:
        failed = [result for result in self.results if not result.verdict.passed]
        return sorted(failed, key=lambda result: result.order)[:MAX_FEEDBACK_CANDIDATES]

    def _feedback(self) -> list[str]:
        """Return the findings of the checks in the best failed candidates, as lines."""
        lines = dict.fromkeys(line for result in self._best_failures() for line in result.finding_lines)
        return [*lines] or [UNCHANGED] * self._has_unchanged

    async def _run_round(
        self, source: CandidateSource, plans: Sequence[CandidatePlan], number: int
    ) -> list[CheckedCandidate]:
        """Check candidates as they arrive, until no later one could be better than those that passed.

        A failure of the engine ends the round. It is raised if nothing has passed until then.
        """
        feedback = await _add_documentation(self.context, self._feedback(), self._best_failures())
        passed: list[CheckedCandidate] = []
        try:
            in_order = self.policy.checks_in_order
            generated = generate_waves(source, plans, self._report_start, feedback, in_order=in_order)
            async with aclosing(generated) as waves:
                async for wave in waves:
                    for candidate in wave:
                        self._record_candidate(candidate)
                    self.states.enter_verify(number)
                    for candidate in wave:
                        await self._check_candidate(candidate, self.checks)
                    passed = self._passed()
                    if passed and self.policy.is_decided(passed):
                        return passed
        except HarnessError:
            if not passed:
                raise
        self.states.enter_verify(number)
        return passed

    def _report_start(self, plan: CandidatePlan) -> None:
        candidates, percentage = _name_candidates(plan.numbers), 100 * self.candidate_count // self._planned_count
        self.context.report(Progress(f"{candidates} of at most {self._planned_count}: {plan.kind}", percentage))

    def _record_candidate(self, candidate: Candidate) -> None:
        self.candidate_count += 1
        number, edits = self._number(candidate), candidate.edits
        if base := self.context.base:
            edits = line_edits(base.data, apply(self.context.document.data, edits)) if edits else ()
        self.states.last_candidate = max(self.states.last_candidate, number)
        self.context.turn.append(_create_event(number, candidate, edits, self.context.item))

    @property
    def _quick_checks(self) -> list[Check]:
        """The checks of an edit that no model made. It is shown at once, and the slow checks follow when it is made."""
        return [check for check in self.checks if not check.is_slow]

    async def _check_candidate(self, candidate: Candidate, checks: Sequence[Check]) -> None:
        """Check a candidate, unless it is empty or another one has the same text."""
        if not candidate.edits:
            self._reject(candidate, "nothing usable was generated")
            return
        changes = _create_changes(self.context, candidate.edits, candidate.author)
        if changes.hash == self.context.document.hash:
            self._has_unchanged = True
            self._reject(candidate, "it changes nothing")
            return
        if twin := next((result for result in self.results if result.changes.hash == changes.hash), None):
            self._repeats[changes.hash] += 1
            self._reject(candidate, f"the same as candidate {self._number(twin.candidate)}")
            return
        verdict = await run_checks(changes, checks)
        result = CheckedCandidate(candidate, changes, verdict)
        self.results.append(result)
        self.context.turn.append(ChecksCompleted.from_verdict(verdict, self._number(candidate)))
        if not verdict.passed:
            self._reject(candidate, "; ".join(result.finding_lines) or "no check could run")

    def _reject(self, candidate: Candidate, reason: str) -> None:
        self.context.turn.append(CandidateRejected(self._number(candidate), reason))

    def _number(self, candidate: Candidate) -> int:
        """Return the number of a candidate in the turn, which may have had other tasks before this one."""
        return self._earlier_candidates + candidate.number

    def _propose(self, changes: ChangeSet, verdict: Verdict, maker: str, *, is_by_model: bool = True) -> Proposal:
        text = _create_diff(self.context, changes)
        summary = f"{maker} passes ({verdict.marks})"
        if self.context.item is not None:
            return Proposal("", changes, verdict, text, summary, self.context.turn.number, is_by_model)
        event = self.context.turn.append(EditProposed(verdict.hash, text, summary))
        self.states.enter("COMPLETE")
        self.context.report(Progress(summary, 100))
        return Proposal(event.id, changes, verdict, text, summary, self.context.turn.number, is_by_model)


def _find_attempts(
    results: Sequence[CheckedCandidate], checks: Sequence[Check], repeats: Counter[str]
) -> list[CheckedCandidate]:
    """Return the candidates that failed a slow check only, by their findings and how often they were repeated."""
    slow = {check.name for check in checks if check.is_slow}
    failed = [result for result in results if slow.intersection(item.check for item in result.verdict.outcomes[-1:])]
    return sorted(failed, key=lambda result: (len(result.finding_lines), -repeats[result.changes.hash]))


async def _add_documentation(context: TurnContext, lines: list[str], failures: Sequence[CheckedCandidate]) -> list[str]:
    """Return the feedback for the next round, with the documentation of package members in failed candidates."""
    if not (lines and context.installed and context.root):
        return lines
    new_texts = [(result.change.after, decode(edit.new)) for result in failures for edit in result.change.edits]
    # packages are read from disk and parsed
    return lines + await asyncio.to_thread(
        describe_package_uses, context.installed, context.root, context.file, new_texts
    )


def _create_diff(context: TurnContext, changes: ChangeSet) -> str:
    names = [context.path if change is changes.main else change.file.name for change in changes]
    return "".join(diff(c.before.data, c.after.data, name) for c, name in zip(changes, names, strict=True))


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


def _describe_round(plans: Sequence[CandidatePlan], context: TurnContext, earlier_candidates: int) -> str:
    numbers = [earlier_candidates + number for plan in plans for number in plan.numbers]
    if not (context.item and context.place):
        return f"Producing {format_count(len(numbers), 'candidate')}..."
    # several items are written at the same time
    return f"Producing {_name_candidates(numbers)} for {context.place}..."


def _name_candidates(numbers: Sequence[int]) -> str:
    first, *others = numbers
    return f"candidates {first}–{others[-1]}" if others else f"candidate {first}"


def _create_changes(context: TurnContext, edits: Sequence[Edit], author: Author) -> ChangeSet:
    document = context.document
    # prompts have no lone surrogates: they are restored where the model repeats the text
    restored = [edit._replace(new=restore_surrogates(edit.new, document.data[edit.start : edit.end])) for edit in edits]
    return ChangeSet.of(Change.from_edits(document, restored, context.file, context.root, author))
