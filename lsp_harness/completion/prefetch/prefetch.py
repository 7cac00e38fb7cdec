"""What is asked before anybody asks for it: prompts that are evaluated while the cursor rests, the full prompt where a
short one had to do, and the suggestion after the one that is shown."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from lsp_harness.completion.prefetch.prefetch_slot import Ahead
from lsp_harness.completion.request.answer_cache import Results
from lsp_harness.completion.request.completion_request import Question, Questions
from lsp_harness.completion.request.text_generation import write
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Usage
from lsp_harness.workspace.cursor import Cursor


class Foresight:
    """At most one piece of work per document. One that is not `eager` does nothing."""

    def __init__(self, engine: Engine, questions: Questions, results: Results, *, eager: bool) -> None:
        self._engine = engine
        self._questions = questions
        self._results = results
        self._eager = eager
        self._ahead = Ahead()
        self._prepared: dict[str, list[Cursor]] = {}
        """The place that was last asked about or warmed, and the one the speculation after it is about."""

    def asked(self, cursor: Cursor) -> None:
        """Somebody asks about this place now."""
        self.stop(cursor.document.uri)
        self._prepared[cursor.document.uri] = [cursor]

    def warm(self, cursor: Cursor, *, seen: bool) -> None:
        """Have the prompts for this place evaluated; where nobody was `seen` yet, only the shortest."""
        uri = cursor.document.uri
        if not self._eager or secret_lines(cursor.document):
            return
        if any(cursor.same(known) for known in self._prepared.get(uri, ())) or self._ahead.covers(cursor):
            return
        self._prepared[uri] = [cursor] if seen else []
        self._ahead.start("warm" if seen else "glance", cursor, lambda: self._warm(cursor, seen=seen))

    def answered(self, question: Question, text: str | None, usage: Usage) -> None:
        """The prompt of rung `usage.rung` had to do, and `text` is shown."""
        cursor, settings = question.cursor, question.settings
        short = settings.warm and usage.rung > 0
        speculate = settings.speculate and question.pace.has_priorities and bool(text)
        if not self._eager or not (short or speculate) or secret_lines(cursor.document):
            return
        if short and self._ahead.covers(cursor, "warm"):
            return
        places = [cursor, cursor.after(text)] if speculate and text else [cursor]
        self._prepared[cursor.document.uri] = places

        def follow() -> None:
            # unless something else was asked meanwhile
            if len(places) > 1 and self._prepared.get(cursor.document.uri) is places:
                self._ahead.start("speculate", places[1], lambda: self._speculate(places[1]))

        async def widen() -> None:
            await self._read(question.read(question.prompts[:1]))
            follow()

        if short:
            self._ahead.start("warm", cursor, widen)
        else:
            follow()

    def stop(self, uri: str) -> None:
        """The suggestion that is speculated about will not be wanted."""
        self._ahead.stop(uri, "speculate")

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._prepared.pop(uri, None)
        self._ahead.stop(uri)

    async def settled(self, uri: str) -> None:
        """Wait for what is done for a document, for callers that have no events to wait for."""
        await self._ahead.settled(uri)

    def close(self) -> None:
        """End all of it."""
        self._ahead.close()

    async def aclose(self) -> None:
        """The same, and wait until the engine has been told."""
        await self._ahead.aclose()

    async def _warm(self, cursor: Cursor, *, seen: bool) -> None:
        pace = await self._questions.pace()
        if not pace.can_infill:
            return
        question = await self._questions.about(cursor.resting(appends=pace.is_append_only), rests=True)
        full, *shorter = question.prompts
        # the cheapest first, so that there is something to answer with soon
        await self._read(question.read([*shorter[-1:], *([full] if seen or not shorter else [])]))

    async def _read(self, requests: list[Infill]) -> None:
        for request in requests:
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for _ in cast("AsyncIterator[object]", chunks):
                    pass

    async def _speculate(self, cursor: Cursor) -> None:
        question = await self._questions.about(cursor)
        if self._results.find(*question.key) is None:
            answer = await write(self._engine, question.foreseen(), question.ghost, question.settings.max_lines)
            self._results.keep(*question.key, *answer)
