"""Fixes of diagnostics that were computed and verified before the user asks for them, by a background engine.

When a diagnostic has stood for a moment in the document in which the user is, its fix is computed in the background, if
the machine and the engine have nothing else to do. The fix is about exactly one version of the text: the checks read
all of it, so any edit drops it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from lsp_harness.errors import HarnessError, NoAnswer
from lsp_harness.harness.edits.turns import Turns
from lsp_harness.harness.events import FindingsChanged, HarnessEvent
from lsp_harness.harness.services import Services
from lsp_harness.inference.client import Engine, ForwardingEngine
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Usage
from lsp_harness.kernel.results import FixOffer, Proposal
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_rules import rank_finding
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

WINDOW_S = 60.0
"""Time in which a document may use its tokens."""


class TokenBudget:
    """The tokens that fixes in the background may use in a time.

    Args:
        limit: Returns the present limit.
        now_s: Returns the present time in seconds.
    """

    def __init__(self, limit: Callable[[], int], now_s: Callable[[], float]) -> None:
        self._limit = limit
        self._now_s = now_s
        self._spent: deque[tuple[float, int]] = deque()

    @property
    def rest(self) -> int:
        """The tokens that may still be used now."""
        while self._spent and self._spent[0][0] <= self._now_s() - WINDOW_S:
            self._spent.popleft()
        return self._limit() - sum(tokens for _, tokens in self._spent)

    def spend(self, tokens: int) -> None:
        """Record that tokens were used."""
        self._spent.append((self._now_s(), tokens))


class BackgroundEngine(ForwardingEngine):
    """An `Engine` that sends every request in the background, while there are tokens left.

    A request that has begun is completed, so the limit may be exceeded by one request.

    Args:
        engine: The engine that answers.
        budget: The tokens that may be used.
        on_spent: Called with the tokens of each request.
    """

    def __init__(self, engine: Engine, budget: TokenBudget, on_spent: Callable[[int], None]) -> None:
        super().__init__(engine)
        self._budget = budget
        self._on_spent = on_spent

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the chunks of the answer. Raises NoAnswer if no tokens are left."""
        if self._budget.rest <= 0:
            raise NoAnswer("the tokens for fixes in the background are used up (background.fix_tokens)")
        usages: dict[int, Usage] = {}
        try:
            async with aclosing(cast("Any", self._engine.stream(replace(request, priority="background")))) as chunks:
                async for chunk in cast("AsyncIterator[Chunk]", chunks):
                    usages[chunk.index] = chunk.usage
                    yield chunk
        finally:
            # all candidates share one prompt
            evaluated = max((usage.evaluated for usage in usages.values()), default=0)
            tokens = evaluated + sum(usage.generated for usage in usages.values())
            self._budget.spend(tokens)
            self._on_spent(tokens)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        return await self._engine.embed(texts, max_tokens=max_tokens, priority="background")

    async def aclose(self) -> None:
        """Do nothing: the engine belongs to the client."""


MAX_FINDINGS = 3
"""Diagnostics of one version whose fixes are prepared: errors first, and of these the closest ones to the cursor."""

PROJECT_CHECKS = frozenset({"tests", "types"})
"""The checks whose outcome depends on more than one file."""

Problem = tuple[int, str]
"""The place and the name or the rule of a finding. Two tools that report the same problem get one fix."""
FindOffers = Callable[[Snapshot, Sequence[Finding]], Awaitable[list[FixOffer]]]
ComputeFix = Callable[[Snapshot, FixOffer, Engine | None], Awaitable[Proposal]]
"""Computes and verifies a fix. Without an engine it asks no model."""


@dataclass(frozen=True, slots=True)
class PreparedFix:
    """A fix that has already passed its checks.

    Attributes:
        offer: The offer that it belongs to.
        proposal: The verified edit.
    """

    offer: FixOffer
    proposal: Proposal

    @property
    def title(self) -> str:
        """The title of the offer, with the checks that the edit passed."""
        verdict = self.proposal.verdict
        passed = [outcome.mark for outcome in verdict.outcomes if outcome.status == "passed"]
        words = [] if verdict.is_verified else [verdict.words]
        return f"{self.offer.title} ({', '.join([*words, *passed])})"

    @property
    def reads_project(self) -> bool:
        """Return whether a check that passed depends on the other files of the project."""
        outcomes = self.proposal.verdict.outcomes
        return any(outcome.status == "passed" and outcome.check in PROJECT_CHECKS for outcome in outcomes)


@dataclass(slots=True)
class _Preparation:
    """The part of an open document that holds its prepared fixes (see `OpenDocument.part`).

    Attributes:
        owner: The service that it belongs to.
        opened: The open document.
        budget: The tokens that it may use.
        text: The version that everything below is about.
        findings: The diagnostics that stand in it.
        counted: Those for which the user asked for fixes.
        tried: Those whose fix was computed, or could not be.
        ready: The fixes that passed.
        dropped_ids: The ids of the proposals of the last version that were dropped with it.
        task: The work under way.
        is_planned: Whether the work begins by itself after a delay.
    """

    owner: "PreparedFixes"
    opened: OpenDocument
    budget: TokenBudget
    text: Document
    findings: dict[Problem, Finding] = field(default_factory=dict[Problem, Finding])
    counted: set[Problem] = field(default_factory=set[Problem])
    tried: set[Problem] = field(default_factory=set[Problem])
    ready: dict[Problem, PreparedFix] = field(default_factory=dict[Problem, PreparedFix])
    dropped_ids: set[str] = field(default_factory=set[str])
    task: "asyncio.Task[None] | None" = None
    is_planned: bool = False

    def close(self) -> None:
        self.owner.reset(self)


class PreparedFixes:
    """The prepared fixes of one client.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        turns: Says which texts may be edited, and asks the permission gate.
        find_offers: Returns the fixes that could be computed for findings.
        compute: Computes the fix of a finding.
    """

    def __init__(self, services: Services, turns: Turns, find_offers: FindOffers, compute: ComputeFix) -> None:
        self._services = services
        self._turns = turns
        self._find_offers = find_offers
        self._compute = compute
        self._tasks: set[asyncio.Task[None]] = set()
        services.events.subscribe(self._handle_event)

    def record(self, snapshot: Snapshot, findings: Sequence[Finding]) -> None:
        """Record that diagnostics stand in a text. Their fixes are prepared if they still stand after the delay."""
        opened = self._services.documents.find(snapshot.document.uri)
        if opened is None or opened.text is not snapshot.document or not findings or not self._is_wanted(snapshot):
            return
        part = self._find_part(opened)
        problems = {_make_problem(snapshot.document, finding): finding for finding in findings}
        # the first report of a problem stays
        part.findings |= {problem: f for problem, f in problems.items() if problem not in part.findings}
        self._plan(part)

    def find(self, snapshot: Snapshot, finding: Finding) -> PreparedFix | None:
        """Return the fix of a finding that is ready for this text, or None."""
        opened = self._services.documents.find(snapshot.document.uri)
        part = opened.find_part(_Preparation) if opened else None
        if part is None or part.text is not snapshot.document:
            return None
        return part.ready.get(_make_problem(snapshot.document, finding))

    def count_offers(self, snapshot: Snapshot, offers: Sequence[FixOffer]) -> None:
        """Count the diagnostics for which the user sees fixes, each once, and those of which a fix is ready."""
        opened = self._services.documents.find(snapshot.document.uri)
        if opened is None or opened.text is not snapshot.document or not self._is_wanted(snapshot):
            return
        part = self._find_part(opened)
        new = {_make_problem(snapshot.document, offer.finding) for offer in offers} - part.counted
        part.counted |= new
        self._count("fixes_offered", len(new))
        self._count("fixes_ready", len(new & part.ready.keys()))

    def record_applied(self, opened: OpenDocument, proposal_id: str) -> None:
        """Record that the edit of a proposal is in the text."""
        part = opened.find_part(_Preparation)
        if part is None:
            return
        used = [problem for problem, fix in part.ready.items() if fix.proposal.id == proposal_id]
        for problem in used:
            del part.ready[problem]
        if used or proposal_id in part.dropped_ids:
            self._count("fixes_used")
        if not used and proposal_id in part.dropped_ids:
            # the first of several edits had dropped it
            part.dropped_ids.discard(proposal_id)
            self._count("fixes_dropped", -1)

    def record_edit(self, opened: OpenDocument) -> None:
        """Drop what was prepared for the text before an edit, and what depended on it in other documents."""
        self.follow(opened)
        self.record_file_change(opened.uri)

    def follow(self, opened: OpenDocument) -> None:
        """Drop what was prepared for the text before an edit."""
        if (part := opened.find_part(_Preparation)) and part.text is not opened.text:
            self.reset(part)

    def record_file_change(self, uri: str) -> None:
        """Drop the fixes of other documents whose checks read the whole project, because one of its texts changed."""
        for opened in self._services.documents:
            part = opened.find_part(_Preparation)
            if part is None or opened.uri == uri:
                continue
            outdated = [problem for problem, fix in part.ready.items() if fix.reads_project]
            for problem in outdated:
                part.tried.discard(problem)
                part.dropped_ids.add(part.ready.pop(problem).proposal.id)
                self._count("fixes_dropped")
            # this runs at each key: without a dropped fix there is nothing to begin
            if outdated:
                self._plan(part)

    def yield_to_user(self, opened: OpenDocument | None) -> None:
        """Stop the work under way for a document, because the user now asks for a fix there. It begins again later."""
        part = opened.find_part(_Preparation) if opened else None
        if part and part.task:
            part.task.add_done_callback(lambda _: self._plan(part))
            self._stop(part)

    def drop_all(self) -> None:
        """Drop everything that was prepared: other settings may not allow it."""
        for opened in self._services.documents:
            if part := opened.find_part(_Preparation):
                self.reset(part)

    def reset(self, part: _Preparation) -> None:
        """Drop what was prepared for a document, and wait for the diagnostics of its present text."""
        self._stop(part)
        self._count("fixes_dropped", len(part.ready))
        part.dropped_ids = {fix.proposal.id for fix in part.ready.values()}
        part.text = part.opened.text
        for known in (part.findings, part.ready, part.counted, part.tried):
            known.clear()

    async def wait_until_idle(self) -> None:
        """Wait for the work under way, for callers that have no event to wait for."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """Cancel all work and wait until it has ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- when
    def _handle_event(self, event: HarnessEvent) -> None:
        opened = self._services.documents.find(event.uri) if isinstance(event, FindingsChanged) else None
        if isinstance(event, FindingsChanged) and opened and event.findings.version == opened.text.version:
            self.record(self._services.workspace.snapshot(opened.text), event.findings.findings)

    def _is_wanted(self, snapshot: Snapshot) -> bool:
        services = self._services
        settings = services.config.background
        is_on = services.works_ahead and settings.prepare_fixes > 0 and not services.background.is_off
        # also nothing without a model: a private file is none of the background's business
        return is_on and self._turns.refusal(snapshot) is None

    def _plan(self, part: _Preparation) -> None:
        """Begin after the delay, however often this is called until then."""
        if not part.is_planned and part.findings.keys() - part.tried:
            part.is_planned = True
            delay_s = self._services.config.background.prepare_fixes / 1000
            self._services.clock.call_later(delay_s, partial(self._start, part, part.text))

    def _start(self, part: _Preparation, text: Document) -> None:
        part.is_planned = False
        services = self._services
        if part.opened is not services.documents.find(part.opened.uri) or not part.findings or part.task:
            return
        if text is not part.text or self._is_engine_busy():
            # the diagnostics have not stood long enough, or the user waits for something else
            self._plan(part)
            return
        if services.documents.focused_uri != part.opened.uri:
            return
        part.task = asyncio.ensure_future(self._run(part, text))
        self._tasks.add(part.task)
        part.task.add_done_callback(partial(self._finish, part))

    def _stop(self, part: _Preparation) -> None:
        task, part.task = part.task, None
        if task:
            task.cancel()

    def _finish(self, part: _Preparation, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if part.task is task:
            part.task = None

    # -- work
    async def _run(self, part: _Preparation, text: Document) -> None:
        services = self._services
        snapshot = services.workspace.snapshot(text)
        await services.background.wait()
        cursor = part.opened.cursor or 0
        # errors come before style, wherever they are
        order = {problem: (rank_finding(f), abs(f.start - cursor)) for problem, f in part.findings.items()}
        closest = [part.findings[problem] for problem in sorted(order, key=order.__getitem__)[:MAX_FINDINGS]]
        is_delayed, tried_before = False, frozenset(part.tried)
        for offer in await self._find_offers(snapshot, closest):
            problem = _make_problem(text, offer.finding)
            # if the first fix of a problem does not pass, the next one may
            if problem in tried_before or problem in part.ready:
                continue
            await services.background.wait()
            engine = self._find_engine(part)
            if offer.source == "model" and engine is None:
                if self._is_engine_busy():
                    # a request of the user has begun since the work began
                    part.tried.discard(problem)
                    is_delayed = True
                continue
            part.tried.add(problem)
            try:
                # the user's own request will say what is wrong
                with suppress(HarnessError):
                    proposal = await self._compute(snapshot, offer, engine)
                    await self._turns.require_permission(proposal)
                    if part.text is not text:
                        return
                    part.ready[problem] = PreparedFix(offer, proposal)
                    self._count("fixes_prepared")
            except asyncio.CancelledError:
                part.tried.discard(problem)
                raise
        if is_delayed:
            self._plan(part)

    def _find_engine(self, part: _Preparation) -> BackgroundEngine | None:
        """Return the engine for the work, or None if it must not be asked: it is not idle, or not ours to use freely.

        The work must neither start an engine nor send to a remote server what nobody asked for.
        """
        engines = self._services.engines
        if not (engines.is_own and engines.is_running and engines.current.state == "ready") or part.budget.rest <= 0:
            return None
        return BackgroundEngine(engines.current, part.budget, lambda tokens: self._count("fix_tokens", tokens))

    def _is_engine_busy(self) -> bool:
        engines = self._services.engines
        return engines.is_running and engines.current.state == "busy"

    def _find_part(self, opened: OpenDocument) -> _Preparation:
        services = self._services
        budget = TokenBudget(lambda: services.config.background.fix_tokens, services.clock.now_s)
        part = opened.part(_Preparation, lambda: _Preparation(self, opened, budget, opened.text))
        self.follow(opened)
        return part

    def _count(self, name: str, count: int = 1) -> None:
        self._services.statistics.add(name, count)


def _make_problem(document: Document, finding: Finding) -> Problem:
    from lsp_harness.verify.same_problem import name_problem

    return name_problem(finding, document)
