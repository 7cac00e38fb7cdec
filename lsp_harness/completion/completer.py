"""A cursor → ghost text: what is known already, else gather, generate, shape, and the syntax gate.

A newer request for a document ends the older one, whether or not the client says so, and goes on with its answer where
that says what was typed since. Typing along with what is shown needs no model call, and neither does what was worked out
ahead: see `warm`, and what follows a suggestion.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from ulid import ULID

from lsp_harness.completion.policy.answer_probability import probability
from lsp_harness.completion.policy.trigger_policy import Restraint
from lsp_harness.completion.policy.trigger_rules import unlikely
from lsp_harness.completion.prefetch.inflight import Answer, Drafts
from lsp_harness.completion.prefetch.prefetch import Foresight
from lsp_harness.completion.request.alternatives import others
from lsp_harness.completion.request.answer_cache import Results
from lsp_harness.completion.request.completion_request import Question, Questions
from lsp_harness.completion.request.displayed import Shown
from lsp_harness.completion.request.text_generation import passing, presented, write
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.errors import EngineRefused, Superseded
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Usage
from lsp_harness.session.results import Suggestion
from lsp_harness.syntax.tree import LIMIT, SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor

GIVEN = 16
"""Suggestions of a document that are remembered."""


class Completer:
    """One per front end. Holds what is running and what was shown last, per document.

    `eager` front ends, which stay, also work ahead: see `foresight`.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        restraint: Restraint | None = None,
        *,
        eager: bool = False,
        drafts: Drafts | None = None,
        elsewhere: RepositoryContext | None = None,
    ) -> None:
        self._engine = engine
        self.restraint = restraint or Restraint()
        self.elsewhere = elsewhere
        self._questions = Questions(engine, settings, self.restraint.settings, elsewhere)
        self._results = Results()
        self._ahead = Foresight(engine, self._questions, self._results, eager=eager)
        self._drafts = drafts or Drafts()
        self._running: dict[str, asyncio.Task[list[Suggestion]]] = {}
        self._shown: dict[str, tuple[Shown, ...]] = {}
        self._given: dict[str, deque[Shown]] = {}
        """The last suggestions of a document: one may be taken while the next is on its way to the screen."""
        self.last: dict[str, Any] = {}
        """The figures of the last suggestion and its `id`, or with `quiet` the rule by which it was not shown."""

    @property
    def settings(self) -> Completion:
        return self._questions.settings

    def configure(self, settings: Completion, quiet: Quiet) -> None:
        """Use other settings from the next request on."""
        self._questions.settings, self._questions.quiet = settings, quiet
        self.restraint.settings = quiet

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
        cursor = Cursor(document, tree, offset, path, persist)
        if automatic and (rule := self.restraint.silenced(cursor, on_screen=True)):
            return self._silent(rule)
        for shown in self._shown.get(uri, ()):
            if rest := shown.rest(cursor, self.settings):
                figures = {"typed_along": True, **_stats(Usage(), 0, 0.0)}
                return self._show(document, offset, [rest], figures, id=shown.suggestion.id)[0]
        if automatic and (rule := self.restraint.silenced(cursor)):
            return self._silent(rule)
        found = await self._alone(cursor, partial(self._compute, automatic=automatic))
        return found[0] if found else None

    async def choices(
        self, document: Document, tree: SyntaxTree | None, offset: int, path: str, *, persist: bool = False
    ) -> list[Suggestion]:
        """Up to `completion.alternatives` different suggestions, the one `complete` gives first. Raises Superseded."""
        self._supersede(document, offset)
        if not self._allowed(document, offset, path):
            return []
        return await self._alone(Cursor(document, tree, offset, path, persist), self._choices)

    def changed(self, document: Document, offset: int) -> None:
        """The user edited the text up to `offset`: an answer on its way says that, or ends when nobody waits for it."""
        self._drafts.moved(document, offset)

    def _supersede(self, document: Document, offset: int) -> None:
        self._drafts.moved(document, offset, asked=True)
        if previous := self._running.pop(document.uri, None):
            previous.cancel()

    async def _alone(
        self, cursor: Cursor, compute: Callable[[Cursor], Coroutine[Any, Any, list[Suggestion]]]
    ) -> list[Suggestion]:
        """The only request for its document."""
        uri = cursor.document.uri
        self._ahead.asked(cursor)
        work = asyncio.ensure_future(compute(cursor))
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
        if uri not in self._running and not self._drafts.running(uri) and self._allowed(document, offset, path):
            self._ahead.warm(Cursor(document, tree, offset, path, persist), seen=seen)

    def given(self, uri: str, suggestion_id: str) -> Shown | None:
        """One of the last suggestions of a document. What is left of one while it is typed along with is the same one."""
        return next((each for each in self._given.get(uri, ()) if each.suggestion.id == suggestion_id), None)

    def base(self, uri: str) -> Document | None:
        """The text the last suggestion of a document was made for."""
        return next((each.document for each in self._shown.get(uri, ())), None)

    def dismissed(self, uri: str, suggestion_id: str) -> None:
        """The user took the last suggestion of a document off the screen: the gate is silent there for a while."""
        if any(each.suggestion.id == suggestion_id for each in self._shown.get(uri, ())):
            del self._shown[uri]
            self._ahead.stop(uri)
            self.restraint.typed.dismiss(uri)

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._shown.pop(uri, None)
        self._given.pop(uri, None)
        self._questions.forget(uri)
        self._ahead.forget(uri)
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
    async def _compute(self, cursor: Cursor, *, automatic: bool = False) -> list[Suggestion]:
        began = perf_counter()
        if text := await self._known(cursor):
            return self._show(cursor.document, cursor.offset, [text], {"known": True, **_stats(Usage(), 0, began)})
        if why := (await self._questions.pace()).no_holes:
            raise EngineRefused(why)
        question = await self._questions.about(cursor)
        known = self._results.find(*question.key)
        if known:
            answer, found = (known, Usage()), {"cached": True}
        else:
            answer, found = await self._ask(question, automatic=automatic)
        if answer is None:
            return []
        written, usage = answer
        [text] = await presented(cursor, question.ghost, [written], self.settings)
        sure = probability(written, text) if text else None
        rule = unlikely(sure, self.restraint.settings) if automatic else ""
        self._ahead.answered(question, None if rule else text, usage)
        if not text:
            return []
        figures = (
            _stats(usage, question.tokens(usage), began)
            | found
            | ({} if sure is None else {"probability": round(sure, 3)})
        )
        if rule:
            self._silent(rule, figures)
            return []
        return self._show(cursor.document, cursor.offset, [text], figures)

    async def _known(self, cursor: Cursor) -> str | None:
        """What needs no model: names in a list of imports."""
        if not (self.elsewhere and cursor.tree and self.settings.repository_tokens):
            return None
        text = await self.elsewhere.complete_import(cursor)
        return passing(cursor.tree, cursor.offset, text) if text else None

    async def _ask(self, question: Question, *, automatic: bool) -> tuple[Answer | None, dict[str, Any]]:
        """What the answer on its way says here, else a new one, and the figures; None where the text moved on."""
        ready = perf_counter()
        if answer := await self._drafts.rest(question.cursor):
            return answer, {"in_flight": True, "engine_ms": _ms(perf_counter() - ready)} | _rung(answer)
        missed = self._drafts.missed(question.cursor.document.uri)
        if automatic and not await self.restraint.pause(question.cursor, self.settings, missed=missed):
            return None, {}
        asked = perf_counter()
        answer = await self._drafts.start(question.cursor, partial(self._write, question))
        figures = {"waited_ms": _ms(asked - ready), "engine_ms": _ms(perf_counter() - asked)}
        return answer, figures | (_rung(answer) if answer else {})

    async def _write(self, question: Question, goes_on: Callable[[str], bool]) -> Answer:
        lines, patience = self.settings.max_lines, question.patience
        answer = await write(self._engine, question.asked(), question.ghost, lines, goes_on, patience=patience)
        self._results.keep(*question.key, *answer)
        return answer

    async def _choices(self, cursor: Cursor) -> list[Suggestion]:
        """The likeliest text, and others drawn beside it that differ from it and each other in what is shown."""
        best = await self._compute(cursor)
        count, question = self.settings.alternatives - 1, await self._questions.about(cursor)
        if count <= 0 or (best and best[0].stats.get("known")):
            return best
        self._ahead.stop(cursor.document.uri)
        drawn = await others(self._engine, question.asked(), question.ghost, self.settings.max_lines, count)
        shaped = await presented(cursor, question.ghost, drawn, self.settings)
        texts = dict.fromkeys([*(each.text for each in best), *filter(None, shaped)])
        return self._show(cursor.document, cursor.offset, list(texts), best[0].stats if best else {})

    def _show(
        self, document: Document, offset: int, texts: Sequence[str], stats: dict[str, Any], *, id: str = ""
    ) -> list[Suggestion]:
        suggestions = [Suggestion(id or str(ULID()), offset, offset, text, stats) for text in texts]
        self._shown[document.uri] = tuple(Shown(document, each) for each in suggestions)
        self._given.setdefault(document.uri, deque(maxlen=GIVEN)).extendleft(self._shown[document.uri])
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
