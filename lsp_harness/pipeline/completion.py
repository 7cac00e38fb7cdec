"""A cursor → ghost text: what is known already, else gather, generate, shape, and the syntax gate.

A newer request for a document ends the older one, whether or not the client says so, and goes on with its answer where
that says what was typed since. Typing along with what is shown needs no model call, and neither does what was worked out
ahead: see `warm`, and what follows a suggestion.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, cast

from ulid import ULID

from lsp_harness.config.schema import Completion
from lsp_harness.context.infill import InfillPrompt, ladder
from lsp_harness.context.outlines import Outlines
from lsp_harness.context.secrets import secret_lines
from lsp_harness.errors import EngineRefused, Superseded
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Around, Infill, Owner, Sampling, Usage
from lsp_harness.pipeline.ahead import Ahead
from lsp_harness.pipeline.alternatives import others
from lsp_harness.pipeline.drafts import Answer, Drafts
from lsp_harness.pipeline.gate import unlikely
from lsp_harness.pipeline.ghost import Ghost
from lsp_harness.pipeline.likelihood import probability
from lsp_harness.pipeline.next_line import may_break
from lsp_harness.pipeline.offers import Suggestion
from lsp_harness.pipeline.pace import Pace, Pacer
from lsp_harness.pipeline.restraint import Restraint
from lsp_harness.pipeline.results import Results, Written
from lsp_harness.pipeline.shown import Shown
from lsp_harness.pipeline.writing import Site, presentable, write
from lsp_harness.syntax.tree import LIMIT, SyntaxTree
from lsp_harness.text.document import Document


@dataclass(frozen=True, slots=True)
class _Task:
    """All that is known before a model is asked: the prompts, longest first, and what decides the answer."""

    site: Site
    ghost: Ghost
    prompts: tuple[InfillPrompt, ...]
    pace: Pace
    settings: Completion

    @property
    def about(self) -> tuple[object, ...]:
        """Everything but the text before the cursor that the answer follows from."""
        limits = (self.settings.prefix_tokens, self.settings.suffix_tokens, self.settings.max_tokens)
        outline = self.prompts[0].outline.text
        return (self.ghost.suffix, outline, self.ghost.language, self.site.path, *limits, self.settings.max_lines)


class Completer:
    """One per front end. Holds what is running and what was shown last, per document.

    `eager` front ends, which stay, also work ahead: the full prompt where a short one had to do, and the suggestion
    after the one that is shown.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        restraint: Restraint | None = None,
        *,
        eager: bool = False,
        drafts: Drafts | None = None,
    ) -> None:
        self._engine = engine
        self.settings = settings
        self.restraint = restraint or Restraint()
        self._eager = eager
        self._pacer = Pacer(engine)
        self._outlines = Outlines()
        self._results = Results()
        self._ahead = Ahead()
        self._drafts = drafts or Drafts()
        self._running: dict[str, asyncio.Task[list[Suggestion]]] = {}
        self._shown: dict[str, tuple[Shown, ...]] = {}
        self._prepared: dict[str, list[Site]] = {}
        """The place that was last asked about or warmed, and the one the speculation after it is about."""
        self.last: dict[str, Any] = {}
        """The figures of the last suggestion and its `id`, or with `quiet` the rule by which it was not shown."""

    async def complete(
        self,
        document: Document,
        tree: SyntaxTree | None,
        offset: int,
        path: str,
        *,
        automatic: bool = False,
        persist: bool = False,
    ) -> Suggestion | None:
        """The suggestion at `offset`, or nothing. Raises Superseded when a newer call for this document came.

        One that is `automatic`, which nobody asked for, passes the quiet gate first.
        """
        uri = document.uri
        self._supersede(document, offset)
        if not self._allowed(document, offset, path):
            return None
        site = Site(document, tree, offset, path, persist)
        if automatic and (rule := self.restraint.silenced(site, on_screen=True)):
            return self._silent(rule)
        rests = (shown.rest(site, self.settings) for shown in self._shown.get(uri, ()))
        if rest := next(filter(None, rests), None):
            return self._show(document, offset, [rest], {"typed_along": True, **_stats(Usage(), 0, 0.0)})[0]
        if automatic and (rule := self.restraint.silenced(site)):
            return self._silent(rule)
        found = await self._alone(site, partial(self._compute, automatic=automatic))
        return found[0] if found else None

    async def choices(
        self, document: Document, tree: SyntaxTree | None, offset: int, path: str, *, persist: bool = False
    ) -> list[Suggestion]:
        """Up to `completion.alternatives` different suggestions, the one `complete` gives first. Raises Superseded."""
        self._supersede(document, offset)
        if not self._allowed(document, offset, path):
            return []
        return await self._alone(Site(document, tree, offset, path, persist), self._choices)

    def changed(self, document: Document, offset: int) -> None:
        """The user edited the text up to `offset`: an answer on its way says that, or ends when nobody waits for it."""
        self._drafts.moved(document, offset)

    def _supersede(self, document: Document, offset: int) -> None:
        self._drafts.moved(document, offset, asked=True)
        if previous := self._running.pop(document.uri, None):
            previous.cancel()

    async def _alone(
        self, site: Site, compute: Callable[[Site], Coroutine[Any, Any, list[Suggestion]]]
    ) -> list[Suggestion]:
        """The only request for its document."""
        uri = site.document.uri
        self._ahead.stop(uri, "speculate")
        self._prepared[uri] = [site]
        work = asyncio.ensure_future(compute(site))
        self._running[uri] = work
        try:
            # shielded, so that the two reasons for an end can be told apart
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.cancelled() and self._running.get(uri) is not work:
                raise Superseded("a newer request for this document replaced this one") from None
            work.cancel()
            raise
        finally:
            if self._running.get(uri) is work:
                del self._running[uri]

    def warm(
        self,
        document: Document,
        tree: SyntaxTree | None,
        offset: int,
        path: str,
        *,
        seen: bool = True,
        persist: bool = False,
    ) -> None:
        """Have the prompt for this place evaluated before it is asked about; the last call for a document counts.

        Where nobody was `seen` yet, only the shortest one is: it starts the engine, and the place will be another.
        """
        uri = document.uri
        wanted = self._eager and uri not in self._running and not self._drafts.running(uri)
        if not wanted or not self._allowed(document, offset, path) or secret_lines(document):
            return
        site = Site(document, tree, offset, path, persist)
        if any(site.same(known) for known in self._prepared.get(uri, ())) or self._ahead.covers(site):
            return
        self._prepared[uri] = [site] if seen else []
        self._ahead.start("warm" if seen else "glance", site, lambda: self._warm(site, seen=seen))

    def shown(self, uri: str, suggestion_id: str) -> Shown | None:
        """The last suggestion of a document, or one of its last choices, if it is that one."""
        return next((each for each in self._shown.get(uri, ()) if each.suggestion.id == suggestion_id), None)

    def base(self, uri: str) -> Document | None:
        """The text the last suggestion of a document was made for."""
        return next((each.document for each in self._shown.get(uri, ())), None)

    def dismissed(self, uri: str, suggestion_id: str) -> None:
        """The user took the last suggestion of a document off the screen: the gate is silent there for a while."""
        if self.shown(uri, suggestion_id):
            del self._shown[uri]
            self._ahead.stop(uri, "speculate")
            self.restraint.typed.dismiss(uri)

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._shown.pop(uri, None)
        self._prepared.pop(uri, None)
        self._ahead.stop(uri)
        self._drafts.forget(uri)
        if running := self._running.pop(uri, None):
            running.cancel()

    async def settled(self, uri: str) -> None:
        """Wait for what is done ahead for a document, for callers that have no events to wait for."""
        await self._ahead.settled(uri)

    def close(self) -> None:
        """End what nobody waits for."""
        self._ahead.close()
        self._drafts.close()

    async def aclose(self) -> None:
        """The same, and wait until the engine has been told."""
        await self._ahead.aclose()
        await self._drafts.aclose()

    # -- asked for
    async def _compute(self, site: Site, *, automatic: bool = False) -> list[Suggestion]:
        began = perf_counter()
        if why := (await self._pacer.now()).no_holes:
            raise EngineRefused(why)
        task = await self._task(site)
        known = self._results.find(task.ghost.prefix, task.about)
        answer, found = ((known, Usage()), {"cached": True}) if known else await self._ask(task, automatic=automatic)
        if answer is None:
            return []
        written, usage = answer
        text = presentable(site, task.ghost, written, self.settings)
        sure = probability(written, text) if text else None
        rule = unlikely(sure, self.restraint.settings) if automatic else ""
        self._work_ahead(task, None if rule else text, usage)
        if not text:
            return []
        tokens = task.prompts[min(usage.rung, len(task.prompts) - 1)].tokens
        figures = _stats(usage, tokens, began) | found | ({} if sure is None else {"probability": round(sure, 3)})
        if rule:
            self._silent(rule, figures)
            return []
        return self._show(site.document, site.offset, [text], figures)

    async def _ask(self, task: _Task, *, automatic: bool) -> tuple[Answer | None, dict[str, Any]]:
        """What the answer on its way says here, else a new one, and the figures; None where the text moved on."""
        ready = perf_counter()
        if answer := await self._drafts.rest(task.site):
            return answer, {"in_flight": True, "engine_ms": _ms(perf_counter() - ready)} | _rung(answer)
        missed = self._drafts.missed(task.site.document.uri)
        if automatic and not await self.restraint.pause(task.site, self.settings, missed=missed):
            return None, {}
        asked = perf_counter()
        answer = await self._drafts.start(task.site, partial(self._write, task))
        figures = {"waited_ms": _ms(asked - ready), "engine_ms": _ms(perf_counter() - asked)}
        return answer, figures | (_rung(answer) if answer else {})

    async def _write(self, task: _Task, goes_on: Callable[[str], bool]) -> Answer:
        lines = self.settings.max_lines
        written, usage = await write(self._engine, self._request(task), task.ghost, lines, goes_on)
        self._keep(task, written, usage)
        return written, usage

    async def _choices(self, site: Site) -> list[Suggestion]:
        """The likeliest text, and others drawn beside it that differ from it and each other in what is shown."""
        best = await self._compute(site)
        count, task = self.settings.alternatives - 1, await self._task(site)
        if count <= 0:
            return best
        self._ahead.stop(site.document.uri, "speculate")
        drawn = await others(self._engine, self._request(task), task.ghost, self.settings.max_lines, count)
        shaped = (presentable(site, task.ghost, each, self.settings) for each in drawn)
        texts = dict.fromkeys([*(each.text for each in best), *filter(None, shaped)])
        return self._show(site.document, site.offset, list(texts), best[0].stats if best else {})

    async def _task(self, site: Site) -> _Task:
        pace, settings = await self._pacer.now(), self.settings
        prompts = await ladder(
            site.document,
            site.tree,
            site.offset,
            site.path,
            settings,
            pace.affordable(settings),
            self._engine.count,
            self._outlines,
        )
        return _Task(site, site.ghost(), prompts, pace, settings)

    def _request(self, task: _Task) -> Infill:
        full, *shorter = (_around(prompt) for prompt in task.prompts)
        ghost, pace, settings = task.ghost, task.pace, task.settings
        sampling = Sampling(
            n_predict=pace.n_predict(settings),
            # in the middle of a line nothing below it is of use
            stop=("\n",) if ghost.mode == "line" and ghost.line_suffix.strip() and not may_break(ghost) else (),
            t_max_predict_ms=pace.writing_ms(settings),
            confidence=self.restraint.settings.min_probability > 0,
        )
        budget = pace.budget_ms(settings)
        return Infill(
            full, sampling=sampling, owner=_owner(task.site), shorter=tuple(shorter), budget_ms=budget if shorter else 0
        )

    def _keep(self, task: _Task, written: Written, usage: Usage) -> None:
        # what a short prompt or too little time made of it may be better the next time
        if not usage.rung and written.stop not in ("deadline", "cancelled"):
            self._results.add(task.ghost.prefix, task.about, written)

    def _show(self, document: Document, offset: int, texts: Sequence[str], stats: dict[str, Any]) -> list[Suggestion]:
        suggestions = [Suggestion(str(ULID()), offset, offset, text, stats) for text in texts]
        self._shown[document.uri] = tuple(Shown(document, each) for each in suggestions)
        self.restraint.typed.offer(document, offset)
        self.last = stats | {"id": suggestions[0].id} if suggestions else stats
        return suggestions

    def _silent(self, rule: str, stats: dict[str, Any] | None = None) -> None:
        self.last = (stats or _stats(Usage(), 0, 0.0)) | {"quiet": rule}

    def _allowed(self, document: Document, offset: int, path: str) -> bool:
        """Whether anything may be asked about this place at all."""
        if document.binary or len(document.data) > LIMIT or self.restraint.kept(document.uri, path):
            return False
        return document.line_of(offset) not in secret_lines(document)

    # -- not asked for yet
    def _work_ahead(self, task: _Task, text: str | None, usage: Usage) -> None:
        site, short = task.site, self.settings.warm and usage.rung > 0
        speculate = self.settings.speculate and task.pace.yields and bool(text)
        if not self._eager or not (short or speculate) or secret_lines(site.document):
            return
        if short and self._ahead.covers(site, "warm"):
            return
        places = [site, site.after(text)] if speculate and text else [site]
        self._prepared[site.document.uri] = places

        def follow() -> None:
            # unless something else was asked meanwhile
            if len(places) > 1 and self._prepared.get(site.document.uri) is places:
                self._ahead.start("speculate", places[1], lambda: self._speculate(places[1]))

        async def widen() -> None:
            await self._evaluate(site, task.prompts[:1])
            follow()

        if short:
            self._ahead.start("warm", site, widen)
        else:
            follow()

    async def _warm(self, site: Site, *, seen: bool) -> None:
        pace = await self._pacer.now()
        if not pace.fills:
            return
        full, *shorter = (await self._task(site.resting(appends=pace.appends))).prompts
        # the cheapest first, so that there is something to answer with soon
        await self._evaluate(site, [*shorter[-1:], *([full] if seen or not shorter else [])])

    async def _evaluate(self, site: Site, prompts: Sequence[InfillPrompt]) -> None:
        for prompt in prompts:
            request = Infill(_around(prompt), sampling=Sampling(n_predict=0), priority="background", owner=_owner(site))
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for _ in cast("AsyncIterator[object]", chunks):
                    pass

    async def _speculate(self, site: Site) -> None:
        task = await self._task(site)
        if self._results.find(task.ghost.prefix, task.about) is None:
            request = self._request(task)
            patient = replace(request.sampling, t_max_predict_ms=0)
            request = replace(request, sampling=patient, priority="background", shorter=(), budget_ms=0)
            self._keep(task, *await write(self._engine, request, task.ghost, self.settings.max_lines))


def _around(prompt: InfillPrompt) -> Around:
    return Around(prompt.prefix.text, prompt.suffix.text, prompt.extra)


def _owner(site: Site) -> Owner:
    return Owner(persist=site.persist and not secret_lines(site.document), affinity=site.document.uri)


def _stats(usage: Usage, tokens: int, began: float) -> dict[str, Any]:
    return {
        # a server that does not say leaves the estimate
        "prompt_tokens": usage.evaluated + usage.reused or tokens,
        "evaluated": usage.evaluated,
        "reused": usage.reused,
        "generated": usage.generated,
        "ms": _ms(perf_counter() - began) if began else 0.0,
    }


def _rung(answer: Answer) -> dict[str, Any]:
    rung = answer[1].rung
    return {"rung": rung} if rung else {}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
