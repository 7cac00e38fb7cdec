"""What is asked before anybody asks for it: prompts that are evaluated while the cursor rests, the full prompt where a
short one had to do, and the suggestion after the one that is shown."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Usage
from lsp_harness.pipeline.ahead import Ahead
from lsp_harness.pipeline.question import Question, Questions
from lsp_harness.pipeline.results import Results
from lsp_harness.pipeline.writing import Site, write


class Foresight:
    """At most one piece of work per document. One that is not `eager` does nothing."""

    def __init__(self, engine: Engine, questions: Questions, results: Results, *, eager: bool) -> None:
        self._engine = engine
        self._questions = questions
        self._results = results
        self._eager = eager
        self._ahead = Ahead()
        self._prepared: dict[str, list[Site]] = {}
        """The place that was last asked about or warmed, and the one the speculation after it is about."""

    def asked(self, site: Site) -> None:
        """Somebody asks about this place now."""
        self.stop(site.document.uri)
        self._prepared[site.document.uri] = [site]

    def warm(self, site: Site, *, seen: bool) -> None:
        """Have the prompts for this place evaluated; where nobody was `seen` yet, only the shortest."""
        uri = site.document.uri
        if not self._eager or secret_lines(site.document):
            return
        if any(site.same(known) for known in self._prepared.get(uri, ())) or self._ahead.covers(site):
            return
        self._prepared[uri] = [site] if seen else []
        self._ahead.start("warm" if seen else "glance", site, lambda: self._warm(site, seen=seen))

    def answered(self, question: Question, text: str | None, usage: Usage) -> None:
        """The prompt of rung `usage.rung` had to do, and `text` is shown."""
        site, settings = question.site, question.settings
        short = settings.warm and usage.rung > 0
        speculate = settings.speculate and question.pace.yields and bool(text)
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
            await self._read(question.read(question.prompts[:1]))
            follow()

        if short:
            self._ahead.start("warm", site, widen)
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

    async def _warm(self, site: Site, *, seen: bool) -> None:
        pace = await self._questions.pace()
        if not pace.fills:
            return
        question = await self._questions.about(site.resting(appends=pace.appends), rests=True)
        full, *shorter = question.prompts
        # the cheapest first, so that there is something to answer with soon
        await self._read(question.read([*shorter[-1:], *([full] if seen or not shorter else [])]))

    async def _read(self, requests: list[Infill]) -> None:
        for request in requests:
            async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
                async for _ in cast("AsyncIterator[object]", chunks):
                    pass

    async def _speculate(self, site: Site) -> None:
        question = await self._questions.about(site)
        if self._results.find(*question.key) is None:
            answer = await write(self._engine, question.foreseen(), question.ghost, question.settings.max_lines)
            self._results.keep(*question.key, *answer)
