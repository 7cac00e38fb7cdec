"""A diagnostic → a verified edit: UNDERSTAND, LOCATE, GENERATE, VERIFY, COMPLETE.

The harness decides what comes next, by the table below; the model only fills gaps. Every state and every candidate is
an event of the session, and nothing is proposed that has no passed verdict on the same bytes.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lsp_harness.config.schema import Config
from lsp_harness.context.secrets import secret_lines, secret_path
from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.inference.client import Engine
from lsp_harness.pipeline.candidates import Candidate, Generator, Plan, plans
from lsp_harness.pipeline.locate import Place, locate
from lsp_harness.pipeline.offers import MARKS, Progress, Proposal
from lsp_harness.pipeline.pace import Pace
from lsp_harness.pipeline.verified import tell_verified
from lsp_harness.pipeline.waves import finished
from lsp_harness.session.log import Turn
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, changed_size, diff
from lsp_harness.text.position import decode
from lsp_harness.verify import feedback
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Verdict
from lsp_harness.verify.gate import Check, judge
from lsp_harness.verify.gone import GoneCheck
from lsp_harness.verify.lint import LintCheck
from lsp_harness.verify.ruff import Ruff
from lsp_harness.verify.syntax import SyntaxCheck

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

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate with its verdict."""

    candidate: Candidate
    change: Change
    verdict: Verdict

    @property
    def size(self) -> int:
        return changed_size(self.change.before.data, self.change.after.data)

    @property
    def said(self) -> list[str]:
        """What the failed checks said."""
        failed = [outcome for outcome in self.verdict.outcomes if outcome.status == "failed"]
        return [line for outcome in failed for line in feedback.lines(outcome, self.change.after)]

    @property
    def order(self) -> tuple[int, int, int]:
        """Best first: gates cleared, then the shortest diff, then who came first."""
        return (-self.verdict.rank if not self.verdict.passed else -99, self.size, self.candidate.number)


@dataclass(slots=True)
class Fix:
    """One fix of one finding in one document version; `run` may be awaited once."""

    engine: Engine
    config: Config
    ruff: Ruff
    turn: Turn
    document: Document
    file: Path
    root: Path | None
    path: str
    finding: Finding
    report: Report
    persist: bool = False
    """What the engine makes of this document may be written to disk."""
    tried: list[Tried] = field(default_factory=list[Tried])
    made: int = 0
    _total: int = 0
    _state: State | None = None

    async def run(self, given: Sequence[Edit] = ()) -> Proposal:
        """The proposal. `given` edits (a linter's own fix) are verified instead of generated."""
        try:
            return await self._run(given)
        except HarnessError as error:
            if self._state not in ("FAILED", "COMPLETE"):
                self._enter("FAILED", reason=error.message)
            raise
        except BaseException:
            # cancelled, or a bug: either way the log must not end in the middle of a state
            self._enter("CANCELLED")
            raise

    async def _run(self, given: Sequence[Edit]) -> Proposal:
        self.turn.tell(
            "invocation.received", kind="fix", text=self.finding.message, source=self.finding.source, path=self.path
        )
        self._enter("UNDERSTAND")
        if given:
            self._enter("VERIFY")
            change = Change.of(self.document, given, self.file, self.root)
            verdict = await judge(change, self._checks())
            self._verified(0, change, verdict)
            if not verdict.passed:
                raise self._failed("the linter's own fix does not pass the gates here")
            return self._complete(change, verdict, "the linter's own fix")
        if secret_path(str(self.file)):
            raise self._failed(f"{self.path} holds secrets by its name and is not given to the model")
        self._enter("LOCATE")
        tree = parse(self.document)
        place = locate(tree, self.finding) if tree else None
        if tree is None or place is None:
            raise self._failed(f"there is no code at this diagnostic that {self.path}'s grammar knows")
        hidden = secret_lines(self.document)
        lines = range(self.document.line_of(place.statement.start), self.document.line_of(place.statement.end) + 1)
        if not hidden.isdisjoint(lines):
            raise self._failed("this code holds what looks like a secret and is not given to the model")
        persist = self.persist and not hidden
        generator = Generator(self.engine, self.config, tree, place, self.finding, self.path, persist)
        return await self._generate(generator, place)

    async def _generate(self, generator: Generator, place: Place) -> Proposal:
        pace = Pace.of((await self.engine.props()).raw)
        fills, rewrites = plans(self.config, place, pace.candidates, fills=pace.fills)
        # all fills are one round; every rewrite is a round of its own, told what failed before it
        rounds = [batch for batch in (fills, *([plan] for plan in rewrites)) if batch]
        if not rounds:
            raise self._failed("this model fills no holes, and there is no function here that it could write again")
        self._total = sum(len(plan.numbers) for plan in (*fills, *rewrites))
        for round_number, batch in enumerate(rounds):
            self._enter("GENERATE", round=round_number)
            passed = await self._round(generator, batch, round_number)
            if passed:
                best = min(passed, key=lambda t: t.order)
                return self._complete(best.change, best.verdict, f"candidate {best.candidate.number} of {self.made}")
        closest = [f"the closest: {line}" for line in self._feedback()[:1]]
        raise self._failed(
            "; ".join(["no candidate passed the checks", *(closest or filter(None, [generator.refused]))])
        )

    async def _round(self, generator: Generator, batch: Sequence[Plan], number: int) -> list[Tried]:
        """Judge candidates as they are finished; those that pass, of all that were finished when the first one did."""
        told = self._feedback()
        async with aclosing(finished(generator, batch, self._starting, told)) as waves:
            async for wave in waves:
                for candidate in wave:
                    self._made(candidate)
                if self._state == "GENERATE":
                    self._enter("VERIFY", round=number)
                for candidate in wave:
                    await self._verify(candidate)
                if passed := [tried for tried in self.tried if tried.verdict.passed]:
                    return passed
        if self._state == "GENERATE":
            self._enter("VERIFY", round=number)
        return []

    def _starting(self, plan: Plan) -> None:
        first, *more = plan.numbers
        which = f"candidates {first}–{more[-1]}" if more else f"candidate {first}"
        percentage = 100 * self.made // self._total
        self.report(Progress(f"{which} of at most {self._total}: {plan.kind}", percentage))

    def _made(self, candidate: Candidate) -> None:
        self.made += 1
        usage = candidate.usage
        self.turn.tell(
            "candidate.generated",
            candidate=candidate.number,
            kind=candidate.plan.kind,
            temperature=candidate.plan.temperature,
            seed=candidate.seed,
            text=decode(candidate.edit.new) if candidate.edit else "",
            evaluated=usage.evaluated,
            reused=usage.reused,
            generated=usage.generated,
        )

    async def _verify(self, candidate: Candidate) -> None:
        """Judge one candidate, unless there is nothing new to judge."""
        if candidate.edit is None:
            self._rejected(candidate, "nothing usable was generated")
            return
        change = Change.of(self.document, [candidate.edit], self.file, self.root)
        if change.after.hash == self.document.hash:
            self._rejected(candidate, "it changes nothing")
            return
        if twin := next((t for t in self.tried if t.change.after.hash == change.after.hash), None):
            self._rejected(candidate, f"the same as candidate {twin.candidate.number}")
            return
        verdict = await judge(change, self._checks())
        self.tried.append(Tried(candidate, change, verdict))
        self._verified(candidate.number, change, verdict)
        if not verdict.passed:
            self._rejected(candidate, "; ".join(self.tried[-1].said) or "no check could run")

    def _checks(self) -> list[Check]:
        settings = self.config.verification
        checks: list[Check] = []
        if settings.parse_check:
            checks.append(SyntaxCheck())
        if settings.lint:
            checks += [LintCheck(self.ruff), GoneCheck(self.ruff, self.finding)]
        return checks

    def _verified(self, number: int, change: Change, verdict: Verdict) -> None:
        tell_verified(self.turn, change, verdict, candidate=number)

    def _rejected(self, candidate: Candidate, reason: str) -> None:
        self.turn.tell("candidate.rejected", candidate=candidate.number, reason=reason)

    def _feedback(self) -> list[str]:
        """What the gates said of the best failed candidates, in the fixed form."""
        ranked = sorted((t for t in self.tried if not t.verdict.passed), key=lambda t: t.order)[:3]
        lines = [line for t in ranked for line in t.said]
        return list(dict.fromkeys(lines))

    def _complete(self, change: Change, verdict: Verdict, who: str) -> Proposal:
        text = diff(change.before.data, change.after.data, self.path)
        checks = ", ".join(f"{o.check} {MARKS[o.status]}" for o in verdict.outcomes)
        event = self.turn.tell("edit.proposed", hash=verdict.hash, diff=text, summary=f"{who} passes ({checks})")
        self._enter("COMPLETE")
        self.report(Progress(f"{who} passes ({checks})", 100))
        return Proposal(event.id, change.edits, verdict, text, f"{who} passes ({checks})", self.turn.number)

    def _failed(self, message: str) -> NoAnswer:
        self._enter("FAILED", reason=message)
        return NoAnswer(f"{message[0].upper()}{message[1:]}; nothing was changed")

    def _enter(self, state: State, **data: object) -> None:
        if self._state and state not in NEXT[self._state]:
            if state == "CANCELLED":
                return
            raise AssertionError(f"{self._state} → {state} is not in the table")
        self._state = state
        self.turn.enter(state, **data)
