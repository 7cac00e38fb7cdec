"""The driver of completion: from a cursor to ghost text.

It tries the cheapest source first: the rest of a suggestion that is displayed already, names in a list of imports, a
cached answer, the answer in flight, and at last the model. A newer request for a document replaces the older one,
whether or not the client cancels it.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from lsp_harness.completion.answer_cache import AnswerCache
from lsp_harness.completion.completion_request import RequestBuilder
from lsp_harness.completion.displayed_suggestions import DisplayedSuggestions, FateRecorder
from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.completion.inflight import BackgroundTasks, CallLater, call_later
from lsp_harness.completion.prefetch import PlaceKnowledge, Prefetcher
from lsp_harness.completion.reply_source import ReplySource, describe_missing
from lsp_harness.completion.text_generation import find_other_texts, find_valid_start, generate_other_texts
from lsp_harness.completion.trigger_policy import TriggerPolicy, find_probability_rule
from lsp_harness.completion.type_filter import TypeFilter
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.errors import EngineRefused, RequestSuperseded
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Usage
from lsp_harness.kernel.results import Suggestion
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.ulid import make_ulid
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.open_document import OpenDocument


class Completer:
    """The entry point for completions: it decides, builds the prompt, asks the engine and shapes the answer.

    The state of a document lies in its `DocumentCompletions`.

    Args:
        engine: The engine.
        settings: The settings of completion.
        policy: Decides where suggestions are wanted.
        background: The permission to prefetch. None for a client that does not stay, which gains nothing from it.
        repository: The code of other files. None leaves it out.
        call_later: Calls a function after a delay.
        types: Replaces, cuts or hides suggestions that would add a type error.

    Attributes:
        repository: The code of other files.
        last_figures: The tokens and times of the last suggestion, and its `id`. If a rule hid it, `quiet` names it.
        last_reason: Why the last request has no suggestion, in words. Empty if it has one.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        policy: TriggerPolicy | None = None,
        *,
        background: BackgroundPermit | None = None,
        repository: RepositoryContext | None = None,
        call_later: CallLater = call_later,
        types: TypeFilter | None = None,
    ) -> None:
        self._engine = engine
        self._policy = policy or TriggerPolicy()
        self.repository = repository
        self._requests = RequestBuilder(engine, settings, self._policy.settings, repository)
        answers = AnswerCache()
        self._replies = ReplySource(engine, answers, self._policy)
        self._prefetcher = Prefetcher(engine, self._requests, answers, background)
        self._tasks = BackgroundTasks()
        self._call_later = call_later
        self._types = types or TypeFilter()
        self.fates: FateRecorder | None = None
        """Hears what becomes of each suggestion of a document that is opened from now on."""
        self.last_figures: dict[str, Any] = {}
        self.last_reason = ""

    @property
    def settings(self) -> Completion:
        return self._requests.settings

    def configure(self, settings: Completion, quiet: Quiet) -> None:
        """Use other settings from the next request on."""
        self._requests.settings, self._requests.quiet = settings, quiet
        self._policy.settings = quiet

    def state(self, open_document: OpenDocument) -> DocumentCompletions:
        """Return the state of completion for a document."""

        def create() -> DocumentCompletions:
            displayed = DisplayedSuggestions(open_document, self.fates)
            return DocumentCompletions(displayed, self._tasks, self._call_later)

        return open_document.part(DocumentCompletions, create)

    async def complete(
        self, open_document: OpenDocument, cursor: Cursor, *, automatic: bool = False
    ) -> Suggestion | None:
        """Return the suggestion at a cursor, or None.

        Args:
            open_document: The document.
            cursor: A place in a version of the document.
            automatic: Whether the editor asks without a command of the user. Then the trigger rules apply.

        Raises:
            RequestSuperseded: A newer request for this document came.
        """
        state = self.state(open_document)
        self._supersede(state, cursor)
        self.last_reason = self._policy.find_refusal(cursor)
        if self.last_reason:
            return None
        if automatic and (rule := self._policy.find_rule(cursor, open_document.history, is_displayed=True)):
            return self._hide(rule)
        for suggestion in state.displayed.current:
            if remaining_text := suggestion.find_rest(cursor, self.settings):
                figures = {"typed_along": True, **_measure_request(Usage(), 0, 0.0)}
                return self._display(open_document, cursor, [remaining_text], figures, id=suggestion.suggestion.id)[0]
        if automatic and (rule := self._policy.find_rule(cursor, open_document.history)):
            return self._hide(rule)
        suggestions = await self._run(state, cursor, self._complete(open_document, cursor, automatic=automatic))
        return suggestions[0] if suggestions else None

    async def choices(self, open_document: OpenDocument, cursor: Cursor) -> list[Suggestion]:
        """Return up to `completion.alternatives` different suggestions; the first is the one that `complete` returns.

        Raises:
            RequestSuperseded: A newer request for this document came.
        """
        state = self.state(open_document)
        self._supersede(state, cursor)
        if not self._policy.allows(cursor):
            return []
        return await self._run(state, cursor, self._find_choices(open_document, cursor))

    def start_engine(self) -> None:
        """Start the engine, so that the first request need not wait for its model."""
        self._tasks.add(asyncio.ensure_future(self._requests.pace()))

    def displays_at(self, open_document: OpenDocument, cursor: Cursor) -> bool:
        """Return whether the editor displays a suggestion for exactly this text and place."""
        state = open_document.find_part(DocumentCompletions)
        return state is not None and any(displayed.is_at(cursor) for displayed in state.displayed.current)

    def follow(self, open_document: OpenDocument, edit: Edit) -> Document | None:
        """Record an edit of the user. An answer in flight that disagrees ends if no request waits for it.

        Returns:
            The text without the suggestion that this edit accepted to its end, or None if it accepted none so.
        """
        state = open_document.find_part(DocumentCompletions)
        if state is None:
            return None
        if open_document.cursor is not None:
            state.inflight.follow(open_document.text, open_document.cursor)
        return state.displayed.follow(edit)

    def warm(self, open_document: OpenDocument, cursor: Cursor, knowledge: PlaceKnowledge = "visited") -> None:
        """Evaluate the prompt for a place before the user asks there. Only the last call for a document counts.

        Args:
            open_document: The document.
            cursor: The place of the cursor in the text.
            knowledge: How the place is known. If it is unknown, only the shortest prompt is evaluated: it starts the
                engine, and the user will probably ask at another place.
        """
        state = self.state(open_document)
        if not state.is_busy and self._policy.allows(cursor):
            self._prefetcher.warm(state.prefetch, cursor, knowledge)

    async def prepare(self, cursor: Cursor) -> None:
        """Evaluate the prompt for a place in a document that is not open."""
        if self._policy.allows(cursor):
            await self._prefetcher.prepare(cursor)

    def dismiss(self, open_document: OpenDocument, suggestion_id: str) -> None:
        """Record that the user removed a displayed suggestion."""
        state = self.state(open_document)
        if state.displayed.dismiss(suggestion_id):
            state.prefetch.cancel("speculate")

    async def aclose(self) -> None:
        """Cancel all work, and wait until the engine knows."""
        await self._tasks.aclose()

    # -- one request at a time
    def _supersede(self, state: DocumentCompletions, cursor: Cursor) -> None:
        state.inflight.follow(cursor.document, cursor.offset, is_request=True)
        state.supersede()

    async def _run(
        self, state: DocumentCompletions, cursor: Cursor, work: Coroutine[Any, Any, list[Suggestion]]
    ) -> list[Suggestion]:
        """Run the only request of a document."""
        self._prefetcher.record_request(state.prefetch, cursor)
        request = asyncio.ensure_future(work)
        state.begin(request)
        try:
            # The shield distinguishes a newer request from a cancellation by the client.
            return await asyncio.shield(request)
        except asyncio.CancelledError:
            if request.cancelled() and not state.is_latest(request):
                raise RequestSuperseded("a newer request for this document replaced this one") from None
            request.cancel()
            raise
        finally:
            state.end(request)

    # -- sources, the cheapest first
    async def _complete(
        self, open_document: OpenDocument, cursor: Cursor, *, automatic: bool = False, may_replace: bool = True
    ) -> list[Suggestion]:
        start_s = perf_counter()
        if text := await self._find_import(cursor):
            return self._display(
                open_document, cursor, [text], {"known": True, **_measure_request(Usage(), 0, start_s)}
            )
        if reason := (await self._requests.pace()).infill_problem:
            raise EngineRefused(reason)
        self._types.prepare(cursor.document)
        request = await self._requests.build(cursor, self.state(open_document).repository)
        inflight, history = self.state(open_document).inflight, open_document.history
        reply = await self._replies.find(request, inflight, history, automatic=automatic)
        if reply is None:
            self.last_reason = "the text changed meanwhile"
            return []
        rule = find_probability_rule(reply.probability, self._policy.settings) if automatic else ""
        others = [partial(find_other_texts, self._engine, request, start_s, automatic=automatic)] if may_replace else []
        text, rule, type_figures = await self._types.narrow(cursor, reply.text, reply.model_text, rule, *others)
        self._prefetcher.continue_after_answer(
            self.state(open_document).prefetch, request, None if rule else text, reply.usage
        )
        if not text:
            self.last_reason = describe_missing(request, reply, rule, type_figures)
        if not (text or rule):
            return []
        figures = {
            **_measure_request(reply.usage, request.prompt_tokens(reply.usage), start_s),
            **reply.figures,
            **type_figures,
        }
        if reply.probability is not None:
            figures["probability"] = round(reply.probability, 3)
        if rule or not text:
            self._hide(rule, figures)
            return []
        return self._display(open_document, cursor, [text], figures)

    async def _find_import(self, cursor: Cursor) -> str | None:
        """Return names for a list of imports, which need no model."""
        if not (self.repository and cursor.tree and self.settings.repository_tokens):
            return None
        text = await self.repository.complete_import(cursor)
        return find_valid_start(cursor.tree, cursor.offset, text) if text else None

    async def _find_choices(self, open_document: OpenDocument, cursor: Cursor) -> list[Suggestion]:
        """Return the likeliest text, and sampled texts that differ from it and from each other."""
        # the alternatives come anyway
        best = await self._complete(open_document, cursor, may_replace=False)
        request = await self._requests.build(cursor, self.state(open_document).repository)
        if self.settings.alternatives <= 1 or (best and best[0].stats.get("known")):
            return best
        self.state(open_document).prefetch.cancel("speculate")
        others = await generate_other_texts(self._engine, request, request.urgent_infill("complete"))
        typed_texts = await self._types.narrow_all(cursor, others)
        texts = dict.fromkeys([*(suggestion.text for suggestion in best), *typed_texts])
        # if nothing is left, the figures still say which rule hid the first text
        return self._display(open_document, cursor, list(texts), best[0].stats if best else {}) if texts else []

    # -- results
    def _display(
        self,
        open_document: OpenDocument,
        cursor: Cursor,
        texts: Sequence[str],
        figures: dict[str, Any],
        *,
        id: str = "",
    ) -> list[Suggestion]:
        offset = cursor.offset
        suggestions = [Suggestion(id or make_ulid(), offset, offset, text, figures) for text in texts]
        self.state(open_document).displayed.display(cursor.document, suggestions)
        self.last_figures = figures | {"id": suggestions[0].id} if suggestions else figures
        return suggestions

    def _hide(self, rule: str, figures: dict[str, Any] | None = None) -> None:
        self.last_figures = (figures or _measure_request(Usage(), 0, 0.0)) | {"quiet": rule}


def _measure_request(usage: Usage, prompt_tokens: int, start_s: float) -> dict[str, Any]:
    return {
        # a server that does not report the tokens leaves the estimate
        "prompt_tokens": usage.evaluated + usage.reused or prompt_tokens,
        "evaluated": usage.evaluated,
        "reused": usage.reused,
        "generated": usage.generated,
        "ms": _since_ms(perf_counter() - start_s) if start_s else 0.0,
    }


def _since_ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
