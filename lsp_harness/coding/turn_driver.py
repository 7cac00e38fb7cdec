"""Generates, checks and chooses candidates, round by round. Every turn that edits code uses it.

The table `turn_states.NEXT_STATES` decides what comes next; the model only fills gaps. Every state and every candidate
is an event of the session, and no edit is proposed without a passed verdict on the same bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import TypeVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks, create_changes
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate, drop_equivalent
from lsp_harness.coding.candidates.prompt_waves import CandidateSource, generate_waves
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan
from lsp_harness.coding.edit_task import EditTask, ExistingEdits
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.context.lookup.package_documentation import describe_package_uses
from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.events.code_events import EditProposed, OutputRead
from lsp_harness.inference.request import Usage
from lsp_harness.kernel.results import Progress, Proposal
from lsp_harness.text.position import decode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.check import AbsentCheck, Check
from lsp_harness.verify.finding import Verdict
from lsp_harness.wire.verdict_words import BEHAVIOUR_CHECKS

AMBIGUOUS_COST = 0.3
"""Repairs are equally likely if their costs differ by no more."""
SHOWN_BEFORE_TESTS = "a fix without the model is shown before its tests run"
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


StageResult = TypeVar("StageResult")


async def run_edit_task(task: EditTask) -> Proposal:
    """Run a task as a turn, or as a part of one, and record its states. Call it once for a task.

    Raises:
        NoAnswer: No change passes the checks, or the task refuses the request.
    """
    return await TurnDriver(task, await task.create_checks()).run()


@dataclass(slots=True)
class TurnDriver:
    """The loop of one turn: it generates candidates, checks them and chooses one.

    Attributes:
        task: Finds repairs, generates candidates and decides about them.
        checks: The checks that a candidate must pass.
        states: The state of the turn.
        candidates: The candidates until now, with their verdicts.
        now_s: Returns the time in seconds.
    """

    task: EditTask
    checks: Sequence[Check]
    states: TurnStates = field(init=False)
    candidates: CandidateChecks = field(init=False)
    now_s: Callable[[], float] = monotonic
    _planned_count: int = 0
    _end_s: float = inf
    _round_count: int = 0

    def __post_init__(self) -> None:
        self.states = self.context.states or TurnStates(self.context.turn)
        self.candidates = CandidateChecks(self.context, self.states, self.task.finishes_edits)

    @property
    def context(self) -> TurnContext:
        """The document and the tools."""
        return self.task.context

    async def run(self) -> Proposal:
        """Run the stages of the task and record its states. Call it once."""
        try:
            if self.states.current is None:
                self.states.enter("UNDERSTAND")
            if output := self.context.output:
                self.context.turn.append(OutputRead(output.tool, output.summary))
            return self.task.complete_proposal(await self._run_stages())
        except HarnessError as error:
            self._enter_failed(error.message)
            raise
        except BaseException:
            # cancelled, or a bug: the log must not end in the middle of a state
            if self.context.item is None:
                self.states.enter("CANCELLED")
            raise

    async def _run_stages(self) -> Proposal:
        """Return the proposal of the first stage that has one."""
        if existing := await self._ask(self.task.find_existing_edits()):
            return await self._check_edits(existing)
        if self.states.current == "UNDERSTAND":
            self.states.enter("LOCATE")
            self.states.outcome = self.context.place
        if proposal := await self._try_repairs(await self._ask(self.task.find_repairs())):
            return proposal
        self.checks = await self.task.create_candidate_checks() or self.checks
        if (trials := await self._ask(self.task.create_trials(self.candidates))) and (
            proposal := await self._run_rounds(*trials)
        ):
            return proposal
        source = await self._ask(self.task.create_source(self.candidates))
        return await self._generate(source, await self._ask(self.task.plan_rounds()))

    async def _ask(self, stage: Awaitable[StageResult]) -> StageResult:
        """Return what a stage of the task returns. If it refuses, enter the state FAILED with its reason."""
        try:
            return await stage
        except NoAnswer as error:
            raise self._fail(error.message) from error

    async def _check_edits(self, existing: ExistingEdits) -> Proposal:
        """Check the edits that came with the request, and propose them."""
        self.states.enter("VERIFY")
        changes = create_changes(self.context, existing.edits, "linter")
        verdict = await self.candidates.judge(changes, self._quick_checks, 0, existing.outcomes)
        if not verdict.passed:
            raise self._fail(f"{existing.maker} does not pass the checks here")
        return self._propose(changes, verdict, existing.maker, is_by_model=False)

    async def _try_repairs(self, repairs: Sequence[Repair]) -> Proposal | None:
        """Propose the most likely repair that passes the checks.

        Args:
            repairs: The repairs, the most likely first.

        Returns:
            The proposal, or None if no repair passes, or if further checks fail all of them.

        Raises:
            NoAnswer: Several repairs are equally likely, and the task chose none of them.
        """
        if not repairs:
            return None
        self.states.enter("GENERATE", round=0)
        try:
            passed = await self._check_repairs(repairs)
            is_by_model = False
            if len(passed) > 1 and (checks := await self.task.create_repair_checks()):
                passed = await self.candidates.check_again(checks)
            if not passed:
                return None
            if len(passed) > 1:
                passed = await asyncio.to_thread(drop_equivalent, passed)
            best = passed[0]
            if len(passed) > 1:
                best, is_by_model = await self.task.choose_repair(passed), True
        finally:
            self.task.record_repairs(repairs, self.candidates.results)
        if best is None:
            texts = " or ".join(f"`{result.first_changed_line}`" for result in passed[:3])
            raise self._fail(f"several repairs are equally likely: {texts}; choose one yourself")
        return self._propose(best.changes, best.verdict, best.candidate.plan.kind, is_by_model=is_by_model)

    async def _check_repairs(self, repairs: Sequence[Repair]) -> list[CheckedCandidate]:
        """Return the repairs that pass the checks and are as likely as the first of them."""
        passed: list[CheckedCandidate] = []
        for number, repair in enumerate(repairs[:MAX_REPAIRS], 1):
            if passed and repair.cost > passed[0].candidate.cost + AMBIGUOUS_COST:
                break
            plan = CandidatePlan(repair.kind, 0.0, 0, (number,))
            candidate = Candidate(number, plan, repair.edits, Usage(), repair.author, repair.cost)
            self.candidates.record(candidate)
            self.states.enter_verify(0)
            # a learned fix was made by a model
            await self.candidates.check(candidate, self.checks if repair.learned_id else self._quick_checks)
            passed = self.candidates.passed
        return passed

    async def _generate(self, source: CandidateSource, rounds: Sequence[Sequence[CandidatePlan]]) -> Proposal:
        """Propose the best candidate of the first round in which one passes, or one that passes nearly.

        Args:
            source: Generates the candidates.
            rounds: The plans of each round. A round gets the findings of the candidates that failed before it.

        Raises:
            NoAnswer: No candidate passes.
        """
        if budget_s := self.context.config.generation.budget_s:
            self._end_s = self.now_s() + budget_s
        if proposal := await self._run_rounds(source, rounds):
            return proposal
        if best := await self._repair_closest(self._round_count) or await self._find_acceptable():
            return self._propose_candidate(best)
        number_in_turn, failures = self.candidates.number_in_turn, self.candidates.failures[:1]
        closest = [f"the closest is {r.describe_failure(number_in_turn(r.candidate))}" for r in failures]
        reasons = closest or [source.refusal] * bool(source.refusal)
        within = f" within {self.context.config.generation.budget_s} s (--budget gives more)" if self._is_late else ""
        raise self._fail("; ".join([f"no candidate passed the checks{within}", *reasons]))

    @property
    def _is_late(self) -> bool:
        """True if the time for candidates is over."""
        return self.now_s() >= self._end_s

    async def _run_rounds(self, source: CandidateSource, rounds: Sequence[Sequence[CandidatePlan]]) -> Proposal | None:
        """Propose the best candidate of the first round in which one passes, or return None."""
        numbers = [number for plans in rounds for plan in plans for number in plan.numbers]
        self._planned_count = max(numbers, default=0)
        if self.context.item and numbers:
            # other items of the plan may be written at the same time
            self.candidates.earlier_count = self.states.reserve(len(numbers)) - min(numbers) + 1
        for number, plans in enumerate(rounds, self._round_count):
            reason = _describe_round(plans, self.context, self.candidates.earlier_count)
            self.states.enter("GENERATE", round=number, reason=reason)
            self._round_count += 1
            if passed := await self._run_round(source, plans, number):
                return self._propose_candidate(self.task.choose(passed))
            if self._is_late:
                break
        return None

    async def _repair_closest(self, round: int) -> CheckedCandidate | None:
        """Return the closest attempt with its repair, if this passes all checks."""
        for attempt in self.candidates.find_attempts(self.checks)[:1]:
            if edits := await self.task.repair_attempt(attempt, self.states):
                number = self.states.last_candidate - self.candidates.earlier_count + 1
                candidate = Candidate(number, CandidatePlan(REPAIRED_ATTEMPT, 0.0, 0, (number,)), tuple(edits), Usage())
                self.candidates.record(candidate)
                self.states.enter_verify(round)
                await self.candidates.check(candidate, self.checks)
        return next(iter(self.candidates.passed), None)

    async def _find_acceptable(self) -> CheckedCandidate | None:
        """Return the best candidate that passes the required checks, or None."""
        checks = self.task.create_required_checks()
        for result in self.candidates.find_attempts(self.checks)[:MAX_ACCEPTABLE] if checks else ():
            number = self.candidates.number_in_turn(result.candidate)
            verdict = await self.candidates.judge(result.changes, checks, number)
            if verdict.passed:
                return replace(result, verdict=verdict)
        return None

    def _propose_candidate(self, best: CheckedCandidate) -> Proposal:
        chosen = self.candidates.number_in_turn(best.candidate)
        # candidates with a higher number may be complete first
        maker = f"candidate {chosen} of {max(chosen, self.candidates.earlier_count + self.candidates.count)}"
        maker += self.task.describe_choice(best, self.candidates.passed)
        return self._propose(best.changes, best.verdict, maker)

    def _fail(self, reason: str) -> NoAnswer:
        """Enter the state FAILED and return the error to raise."""
        self._enter_failed(reason)
        return NoAnswer(f"{reason[0].upper()}{reason[1:]}; nothing was changed")

    def _enter_failed(self, reason: str) -> None:
        if self.context.item is None and not self.states.has_ended:
            self.states.enter("FAILED", reason=reason)

    async def _run_round(
        self, source: CandidateSource, plans: Sequence[CandidatePlan], number: int
    ) -> list[CheckedCandidate]:
        """Check candidates as they arrive, until no later one could be better than those that passed.

        A failure of the engine ends the round. It is raised if nothing has passed until then.
        """
        failures = self.candidates.failures[:MAX_FEEDBACK_CANDIDATES]
        lines = dict.fromkeys(line for result in failures for line in result.finding_lines)
        feedback = [*lines] or [UNCHANGED] * self.candidates.has_unchanged
        feedback = await _add_documentation(self.context, feedback, failures)
        passed: list[CheckedCandidate] = []
        try:
            in_order = self.task.checks_in_order
            generated = generate_waves(source, plans, self._report_start, feedback, in_order=in_order)
            async with aclosing(generated) as waves:
                async for wave in waves:
                    for candidate in wave:
                        self.candidates.record(candidate)
                    self.states.enter_verify(number)
                    for candidate in wave:
                        await self.candidates.check(candidate, self.checks)
                    passed = self.candidates.passed
                    if self._is_late or (passed and self.task.is_decided(passed)):
                        return passed
        except HarnessError:
            if not passed:
                raise
        self.states.enter_verify(number)
        return passed

    def _report_start(self, plan: CandidatePlan) -> None:
        candidates, percentage = _name_candidates(plan.numbers), 100 * self.candidates.count // self._planned_count
        self.context.report(Progress(f"{candidates} of at most {self._planned_count}: {plan.kind}", percentage))

    @property
    def _quick_checks(self) -> list[Check]:
        """The checks of an edit that no model made. It is shown at once, and the slow checks follow when it is made."""
        quick: list[Check] = []
        for check in self.checks:
            if not check.is_slow:
                quick.append(check)
            elif check.name in BEHAVIOUR_CHECKS:
                quick.append(AbsentCheck(check, SHOWN_BEFORE_TESTS))
        return quick

    def _propose(self, changes: ChangeSet, verdict: Verdict, maker: str, *, is_by_model: bool = True) -> Proposal:
        text = _create_diff(self.context, changes)
        summary = verdict.conclude(maker)
        if self.context.item is not None:
            return Proposal("", changes, verdict, text, summary, self.context.turn.number, is_by_model)
        event = self.context.turn.append(EditProposed(verdict.hash, text, summary))
        self.states.enter("COMPLETE")
        self.context.report(Progress(summary, 100))
        return Proposal(event.id, changes, verdict, text, summary, self.context.turn.number, is_by_model)


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
    return "".join(change.create_diff(name) for change, name in zip(changes, names, strict=True))


def _describe_round(plans: Sequence[CandidatePlan], context: TurnContext, earlier_candidates: int) -> str:
    numbers = [earlier_candidates + number for plan in plans for number in plan.numbers]
    if not (context.item and context.place):
        return f"Producing {format_count(len(numbers), 'candidate')}..."
    # several items are written at the same time
    return f"Producing {_name_candidates(numbers)} for {context.place}..."


def _name_candidates(numbers: Sequence[int]) -> str:
    first, *others = numbers
    return f"candidates {first}–{others[-1]}" if others else f"candidate {first}"
