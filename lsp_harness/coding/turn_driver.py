"""Candidates made, checked and chosen from, round by round: what a fix and an edit by instruction have in common.

The harness decides what comes next, by the table below; the model only fills gaps. Every state and every candidate is
an event of the session, and nothing is proposed that has no passed verdict on the same bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from lsp_harness.coding.prompt_waves import Maker, finished
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.sampling import Candidate, Plan
from lsp_harness.coding.turn_context import Job
from lsp_harness.context.lookup.package_documentation import describe_package_uses
from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.inference.request import Usage
from lsp_harness.session.results import Progress, Proposal
from lsp_harness.session.turn_events import (
    CandidateGenerated,
    CandidateRejected,
    ChecksCompleted,
    EditProposed,
    InvocationReceived,
    OutputRead,
    StateEntered,
)
from lsp_harness.text.edit import Edit, changed_size, diff
from lsp_harness.text.position import decode
from lsp_harness.text.surrogates import restore_surrogates
from lsp_harness.verify.change import Author, Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.check_runner import run_checks
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.preservation_check import count_changed_tokens

State = Literal["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE", "FAILED", "CANCELLED"]

NEXT: dict[State, frozenset[State]] = {
    "UNDERSTAND": frozenset({"LOCATE", "VERIFY", "FAILED", "CANCELLED"}),
    "LOCATE": frozenset({"GENERATE", "FAILED", "CANCELLED"}),
    "GENERATE": frozenset({"VERIFY", "FAILED", "CANCELLED"}),
    "VERIFY": frozenset({"GENERATE", "COMPLETE", "FAILED", "CANCELLED"}),
    "COMPLETE": frozenset(),
    "FAILED": frozenset(),
    "CANCELLED": frozenset(),
}


SMALLEST_TOKENS = 2
"""A change of so many tokens or fewer is as small as a repair can be: no other candidate needs to be waited for."""
AMBIGUOUS_COST = 0.3
"""Repairs whose costs differ by no more are as likely as each other."""
MAX_REPAIRS = 12
"""Repairs of one finding that are checked."""


@dataclass(frozen=True)
class Tried:
    """A candidate with its verdict."""

    candidate: Candidate
    changes: ChangeSet
    verdict: Verdict

    @property
    def change(self) -> Change:
        """The change of the document that the turn is about."""
        return self.changes.main

    @cached_property
    def size(self) -> tuple[int, int]:
        """Tokens that it changes, and bytes of the changed lines."""
        return count_changed_tokens(self.change), changed_size(self.change.before.data, self.change.after.data)

    @property
    def said(self) -> list[str]:
        """What the failed checks said."""
        return [line for outcome in self.verdict.outcomes if outcome.status == "failed" for line in outcome.lines]

    @property
    def order(self) -> tuple[int, int, float, int, int]:
        """Best first: checks passed, then the smallest change of the tree, the likeliest repair, the shortest diff, who
        came first."""
        rank = -self.verdict.rank if not self.verdict.passed else -99
        tokens, size = self.size
        return rank, tokens, self.candidate.cost, size, self.candidate.number


def smallest(passed: Sequence[Tried]) -> Tried:
    """Of those that passed, the one that changes least."""
    return min(passed, key=lambda tried: tried.order)


def likeliest(passed: Sequence[Tried]) -> Tried:
    """The model's best guess, if that passed: unlike a repair, an edit is no better for being short."""
    return min(passed, key=lambda tried: tried.candidate.number)


Choose = Callable[[Sequence[Tried]], Awaitable[Tried | None]]
"""Takes one of several repairs that are as likely as each other, or none."""


def _shown(tried: Tried) -> str:
    """The first changed line as a repair leaves it."""
    after = tried.change.after
    line = after.line_of(min((edit.start for edit in tried.change.edits), default=0))
    return decode(after.line(line)).strip()[:60]


@dataclass(slots=True)
class Work:
    """The candidates of one job; `within` may be awaited once.

    `pick` chooses among the candidates that passed; with `every` a round goes on to its end for that.
    """

    job: Job
    checks: Sequence[Check]
    pick: Callable[[Sequence[Tried]], Tried] = smallest
    every: bool = False
    tried: list[Tried] = field(default_factory=list[Tried])
    made: int = 0
    _total: int = 0
    _state: State | None = None

    async def within(self, run: Callable[[], Awaitable[Proposal]], request: InvocationReceived) -> Proposal:
        """What `run` proposes; however it ends, the log says so."""
        try:
            self.job.turn.append(request)
            self.enter("UNDERSTAND")
            if output := self.job.output:
                self.job.turn.append(OutputRead(output.tool, output.summary))
            return await run()
        except HarnessError as error:
            if self._state not in ("FAILED", "COMPLETE"):
                self.enter("FAILED", reason=error.message)
            raise
        except BaseException:
            # cancelled, or a bug: either way the log must not end in the middle of a state
            self.enter("CANCELLED")
            raise

    async def given(self, edits: Sequence[Edit], who: str) -> Proposal:
        """Edits that nobody has to make, checked like any."""
        self.enter("VERIFY")
        changes = self._changes(edits, "linter")
        verdict = await run_checks(changes, self.checks)
        self.job.turn.append(ChecksCompleted.from_verdict(verdict, 0))
        if not verdict.passed:
            raise self.failed(f"{who} does not pass the gates here")
        return self._complete(changes, verdict, who, is_by_model=False)

    async def generate(self, maker: Maker, rounds: Sequence[Sequence[Plan]]) -> Proposal:
        """The chosen one of the first round in which a candidate passes; each is told what failed before."""
        if proposal := await self.attempt(maker, rounds):
            return proposal
        closest = [f"the closest: {line}" for line in self.feedback()[:1]]
        raise self.failed("; ".join(["no candidate passed the checks", *(closest or filter(None, [maker.refused]))]))

    async def repair(self, repairs: Sequence[Repair], choose: Choose) -> Proposal | None:
        """The likeliest repair that passes the checks; None where none does.

        Of repairs that pass and are as likely as each other `choose` takes one. Raises NoAnswer where it takes none.
        """
        if not repairs:
            return None
        self.enter("GENERATE", round=0)
        passed: list[Tried] = []
        for number, repair in enumerate(repairs[:MAX_REPAIRS], 1):
            if passed and repair.cost > passed[0].candidate.cost + AMBIGUOUS_COST:
                break
            plan = Plan(repair.kind, 0.0, 0, (number,))
            candidate = Candidate(number, plan, repair.edits, Usage(), repair.author, repair.cost)
            self._made(candidate)
            if self._state == "GENERATE":
                self.enter("VERIFY", round=0)
            await self._verify(candidate)
            passed = [tried for tried in self.tried if tried.verdict.passed]
        if not passed:
            return None
        best = passed[0] if len(passed) == 1 else await choose(passed)
        if best is None:
            texts = " or ".join(f"`{_shown(tried)}`" for tried in passed[:3])
            raise self.failed(f"several repairs are as likely: {texts}; choose one yourself")
        return self._complete(best.changes, best.verdict, best.candidate.plan.kind, is_by_model=len(passed) > 1)

    async def attempt(self, maker: Maker, rounds: Sequence[Sequence[Plan]]) -> Proposal | None:
        """The same, or None where there may be others to try."""
        self._total = sum(len(plan.numbers) for batch in rounds for plan in batch)
        for number, batch in enumerate(rounds):
            self.enter("GENERATE", round=number)
            if passed := await self._round(maker, batch, number):
                best = self.pick(passed)
                chosen = best.candidate.number
                # those that come later may be finished first
                return self._complete(best.changes, best.verdict, f"candidate {chosen} of {max(chosen, self.made)}")
        return None

    def failed(self, message: str) -> NoAnswer:
        """To be raised."""
        self.enter("FAILED", reason=message)
        return NoAnswer(f"{message[0].upper()}{message[1:]}; nothing was changed")

    def enter(self, state: State, *, round: int | None = None, reason: str | None = None) -> None:
        if self._state and state not in NEXT[self._state]:
            if state == "CANCELLED":
                return
            raise AssertionError(f"{self._state} → {state} is not in the table")
        self._state = state
        self.job.turn.append(StateEntered(state, round, reason))

    def feedback(self) -> list[str]:
        """What the gates said of the best failed candidates, in the fixed form."""
        return list(dict.fromkeys(line for tried in self._failed() for line in tried.said))

    def _failed(self) -> list[Tried]:
        """The best of those that did not pass."""
        return sorted((t for t in self.tried if not t.verdict.passed), key=lambda t: t.order)[:3]

    async def _told(self) -> list[str]:
        """What is said to whoever tries again: the feedback, and what the packages have that the failed ones used."""
        job, failed = self.job, self._failed()
        lines = self.feedback()
        if lines and job.installed and job.root:
            written = [(t.change.after, decode(edit.new)) for t in failed for edit in t.change.edits]
            # packages are read from disk and parsed
            lines += await asyncio.to_thread(describe_package_uses, job.installed, job.root, job.file, written)
        return lines

    async def _round(self, maker: Maker, batch: Sequence[Plan], number: int) -> list[Tried]:
        """Judge candidates as they are finished, until none that is missing could be preferred to those that passed.

        A failure of the engine ends the round; it is raised where nothing has passed by then.
        """
        told = await self._told()
        passed: list[Tried] = []
        try:
            async with aclosing(finished(maker, batch, self._starting, told)) as waves:
                async for wave in waves:
                    for candidate in wave:
                        self._made(candidate)
                    if self._state == "GENERATE":
                        self.enter("VERIFY", round=number)
                    for candidate in wave:
                        await self._verify(candidate)
                    passed = [tried for tried in self.tried if tried.verdict.passed]
                    if passed and not self.every and self._settled(passed):
                        return passed
        except HarnessError:
            if not passed:
                raise
        if self._state == "GENERATE":
            self.enter("VERIFY", round=number)
        return passed

    def _settled(self, passed: Sequence[Tried]) -> bool:
        """Whether no candidate that is still being written could be preferred to these."""
        return self.pick is not smallest or min(tried.size[0] for tried in passed) <= SMALLEST_TOKENS

    def _starting(self, plan: Plan) -> None:
        first, *more = plan.numbers
        which = f"candidates {first}–{more[-1]}" if more else f"candidate {first}"
        percentage = 100 * self.made // self._total
        self.job.report(Progress(f"{which} of at most {self._total}: {plan.kind}", percentage))

    def _made(self, candidate: Candidate) -> None:
        self.made += 1
        usage = candidate.usage
        self.job.turn.append(
            CandidateGenerated(
                candidate.number,
                candidate.plan.kind,
                candidate.plan.temperature,
                candidate.seed,
                text="\n".join(decode(edit.new) for edit in candidate.edits),
                evaluated=usage.evaluated,
                reused=usage.reused,
                generated=usage.generated,
            )
        )

    async def _verify(self, candidate: Candidate) -> None:
        """Judge one candidate, unless there is nothing new to judge."""
        if not candidate.edits:
            self._rejected(candidate, "nothing usable was generated")
            return
        changes = self._changes(candidate.edits, candidate.author)
        if changes.hash == self.job.document.hash:
            self._rejected(candidate, "it changes nothing")
            return
        if twin := next((t for t in self.tried if t.changes.hash == changes.hash), None):
            self._rejected(candidate, f"the same as candidate {twin.candidate.number}")
            return
        verdict = await run_checks(changes, self.checks)
        self.tried.append(Tried(candidate, changes, verdict))
        self.job.turn.append(ChecksCompleted.from_verdict(verdict, candidate.number))
        if not verdict.passed:
            self._rejected(candidate, "; ".join(self.tried[-1].said) or "no check could run")

    def _changes(self, edits: Sequence[Edit], author: Author) -> ChangeSet:
        document = self.job.document
        # the model has seen a text without lone surrogates: what it repeats of the text gets them back
        edits = [
            edit._replace(new=restore_surrogates(edit.new, document.data[edit.start : edit.end])) for edit in edits
        ]
        return ChangeSet.of(Change.from_edits(document, edits, self.job.file, self.job.root, author))

    def _rejected(self, candidate: Candidate, reason: str) -> None:
        self.job.turn.append(CandidateRejected(candidate.number, reason))

    def _complete(self, changes: ChangeSet, verdict: Verdict, who: str, *, is_by_model: bool = True) -> Proposal:
        text = "".join(
            diff(change.before.data, change.after.data, self.job.path if change is changes.main else change.file.name)
            for change in changes
        )
        summary = f"{who} passes ({verdict.marks})"
        event = self.job.turn.append(EditProposed(verdict.hash, text, summary))
        self.enter("COMPLETE")
        self.job.report(Progress(summary, 100))
        return Proposal(event.id, changes, verdict, text, summary, self.job.turn.number, is_by_model)
