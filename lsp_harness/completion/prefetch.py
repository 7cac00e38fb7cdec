"""Work for the next completion before the user asks for it.

It evaluates the prompts of the place where the cursor rests, evaluates the full prompt after a short one was used, and
generates the completion that follows the displayed one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, nullcontext, suppress
from typing import Any, Literal, NamedTuple, cast

from lsp_harness.completion.answer_cache import AnswerCache
from lsp_harness.completion.completion_request import CompletionRequest, RequestBuilder
from lsp_harness.completion.inflight import BackgroundTasks
from lsp_harness.completion.text_generation import generate
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Usage
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.workspace.cursor import Cursor

log = logging.getLogger(__name__)

Kind = Literal["glance", "warm", "speculate"]
"""`glance` evaluates only the shortest prompt, so it prepares no place completely; `warm` evaluates the prompts of a
place; `speculate` generates the completion that follows if the displayed one is accepted."""
COMPLETE_KINDS: tuple[Kind, ...] = ("warm", "speculate")
PrefetchFunction = Callable[[], Coroutine[Any, Any, None]]
"""Prepares or generates the completion."""


class _Prefetch(NamedTuple):
    kind: Kind
    cursor: Cursor
    task: "asyncio.Task[None]"


class PrefetchSlot:
    """The place for the prefetch of one document, at most one at a time.

    Attributes:
        prepared_places: The place of the last request or preparation, and the place of a speculation.
        repository: The code of other files that was chosen for the prompts of the document.
    """

    def __init__(self, tasks: BackgroundTasks, repository: RepositoryChoice) -> None:
        self._tasks = tasks
        self.repository = repository
        self.prepared_places: list[Cursor] = []
        self._prefetch: _Prefetch | None = None

    def start(self, kind: Kind, cursor: Cursor, run: PrefetchFunction) -> None:
        """Start a prefetch for `cursor`, in place of the one under way."""
        self.cancel()
        task = asyncio.ensure_future(_ignore_harness_errors(run))
        self._prefetch = _Prefetch(kind, cursor, task)
        self._tasks.add(task)
        uri = cursor.document.uri
        task.add_done_callback(lambda finished_task: self._finish(uri, finished_task))

    def cancel(self, kind: Kind | None = None) -> None:
        """Cancel the prefetch under way, if it is of that kind."""
        prefetch = self._prefetch
        if prefetch and kind in (None, prefetch.kind):
            self._prefetch = None
            prefetch.task.cancel()

    def covers(self, cursor: Cursor, kind: Kind | None = None) -> bool:
        """Return whether a prefetch is under way for this place, or for the place where the user began to type."""
        prefetch = self._prefetch
        kinds = (kind,) if kind else COMPLETE_KINDS
        return prefetch is not None and prefetch.kind in kinds and cursor.follows(prefetch.cursor)

    async def wait_until_idle(self) -> None:
        """Wait for the prefetch under way, for callers that have no event to wait for."""
        if self._prefetch:
            await asyncio.wait({self._prefetch.task})

    def _finish(self, uri: str, task: "asyncio.Task[None]") -> None:
        if self._prefetch and self._prefetch.task is task:
            self._prefetch = None
        if not task.cancelled() and (error := task.exception()):
            log.error("the prefetch for %s failed", uri, exc_info=error)


async def _ignore_harness_errors(run: PrefetchFunction) -> None:
    # The next request of the user reports the same error.
    with suppress(HarnessError):
        await run()


PlaceKnowledge = Literal["visited", "remembered", "unknown"]
"""How a place is known: the user was seen there now, or in an earlier session, or it is only the top of the file."""


class Prefetcher:
    """Starts the prefetches of one client. See the module for what is prefetched.

    Args:
        engine: The engine.
        requests: Builds the requests for completions.
        answers: Stores the answers of the model.
        background: The permission to prefetch. None for a client that does not stay, which gains nothing from it.
    """

    def __init__(
        self, engine: Engine, requests: RequestBuilder, answers: AnswerCache, background: BackgroundPermit | None
    ) -> None:
        self._engine = engine
        self._requests = requests
        self._answers = answers
        self._background = background or BackgroundPermit(lambda: "never")
        self._guess_lock = asyncio.Lock()

    def record_request(self, slot: PrefetchSlot, cursor: Cursor) -> None:
        """Record that the user asks about a place now."""
        slot.cancel("speculate")
        slot.prepared_places = [cursor]

    def warm(self, slot: PrefetchSlot, cursor: Cursor, knowledge: PlaceKnowledge) -> None:
        """Evaluate the prompts of a place. If nothing is known about the place, evaluate only the shortest prompt."""
        if self._background.is_off or find_secret_lines(cursor.document):
            return
        if any(cursor.is_same_place(place) for place in slot.prepared_places) or slot.covers(cursor):
            return
        is_known = knowledge != "unknown"
        slot.prepared_places = [cursor] if is_known else []
        slot.start("warm" if is_known else "glance", cursor, lambda: self._warm(slot, cursor, knowledge))

    async def prepare(self, cursor: Cursor) -> None:
        """Evaluate the full prompt of a place in a document that is not open."""
        pace = await self._requests.pace()
        if (
            self._background.is_off
            or not (pace.can_infill and pace.has_priorities)
            or find_secret_lines(cursor.document)
        ):
            return
        await self._background.wait()
        place = cursor.resting_place(appends=pace.is_append_only)
        request = await self._requests.build(place, RepositoryChoice(), is_resting=True)
        await self._evaluate(request.evaluation_infills(request.prompts[:1]))

    def continue_after_answer(
        self, slot: PrefetchSlot, request: CompletionRequest, text: str | None, usage: Usage
    ) -> None:
        """Prefetch what the user is likely to need after an answer.

        This is the evaluation of the full prompt, if the answer came from a shorter one, and the completion that
        follows the displayed text.

        Args:
            slot: The slot of the document.
            request: The request that was answered.
            text: The text that is displayed. With None, no following completion is generated.
            usage: What the engine reported, with the number of the prompt that it used.
        """
        cursor, settings = request.cursor, request.settings
        is_short = settings.warm and usage.rung > 0
        speculates = settings.speculate and request.pace.has_priorities and bool(text)
        if self._background.is_off or not (is_short or speculates) or find_secret_lines(cursor.document):
            return
        if is_short and slot.covers(cursor, "warm"):
            return
        places = [cursor, cursor.move_past(text)] if speculates and text else [cursor]
        slot.prepared_places = places

        def speculate() -> None:
            # unless the user asked something else meanwhile
            if len(places) > 1 and slot.prepared_places is places:
                slot.start("speculate", places[1], lambda: self._compute_speculation(slot, places[1]))

        async def evaluate_full_prompt() -> None:
            await self._background.wait()
            await self._evaluate(request.evaluation_infills(request.prompts[:1]))
            speculate()

        if is_short:
            slot.start("warm", cursor, evaluate_full_prompt)
        else:
            speculate()

    async def _warm(self, slot: PrefetchSlot, cursor: Cursor, knowledge: PlaceKnowledge) -> None:
        pace = await self._requests.pace()
        if not pace.can_infill:
            return
        place = cursor.resting_place(appends=pace.is_append_only)
        request = await self._requests.build(place, slot.repository, is_resting=True)
        full_prompt, *shorter_prompts = request.prompts
        await self._background.prepare()
        # The cheapest first, so that an answer is possible soon. It takes at most the latency of the settings, and may
        # start the engine, so it never waits.
        await self._evaluate(request.evaluation_infills(shorter_prompts[-1:] or [full_prompt]))
        if knowledge == "unknown" or not shorter_prompts:
            return
        # An editor may open many files at once. Their evaluations must not stand before that of the place where the
        # user is, so there is only one of them in the engine.
        async with self._guess_lock if knowledge == "remembered" else nullcontext():
            await self._background.wait()
            await self._evaluate(request.evaluation_infills([full_prompt]))

    async def _evaluate(self, requests: list[Infill]) -> None:
        for request in requests:
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for _ in cast("AsyncIterator[object]", chunks):
                    pass

    async def _compute_speculation(self, slot: PrefetchSlot, cursor: Cursor) -> None:
        await self._background.wait()
        request = await self._requests.build(cursor, slot.repository)
        if self._answers.find(*request.cache_key) is None:
            answer = await generate(
                self._engine, request.background_infill(), request.ghost, request.settings.max_lines
            )
            self._answers.add(*request.cache_key, *answer)
