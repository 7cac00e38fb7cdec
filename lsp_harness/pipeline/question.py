"""What a completion asks the model about a place: the prompts this machine can afford, and the limits of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.config.schema import Completion
from lsp_harness.context.elsewhere import Elsewhere
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.infill import InfillPrompt, ladder
from lsp_harness.context.outlines import Outlines
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Infill, Owner, Sampling, Usage
from lsp_harness.pipeline.ghost import Ghost
from lsp_harness.pipeline.next_line import may_break
from lsp_harness.pipeline.pace import Pace, Pacer
from lsp_harness.pipeline.restraint import Restraint
from lsp_harness.pipeline.writing import Site
from lsp_harness.syntax.unbound import bindings


@dataclass(frozen=True, slots=True)
class Question:
    """All that is known before a model is asked: the prompts, longest first, and what decides the answer."""

    site: Site
    ghost: Ghost
    prompts: tuple[InfillPrompt, ...]
    pace: Pace
    settings: Completion
    confidence: bool
    """The tokens' probabilities are wanted."""
    expected: tuple[str, ...] = ()
    """Names that are likely, as the index knows."""
    unbound: tuple[str, ...] = ()
    """Names that the code below needs, as they are bound: no part of `key`, for an answer stays good while its name is typed."""

    @property
    def key(self) -> tuple[str, tuple[object, ...]]:
        """The text before the cursor, and all else that the answer follows from: its place in `Results`."""
        limits = (self.settings.prefix_tokens, self.settings.suffix_tokens, self.settings.max_tokens)
        full = self.prompts[0]
        elsewhere = (*(fragment.text for fragment in full.repository), *self.expected)
        about = (self.ghost.suffix, full.outline.text, elsewhere, self.ghost.language, self.site.path, *limits)
        return self.ghost.prefix, (*about, self.settings.max_lines)

    @property
    def patience(self) -> float:
        """Seconds from the first token in which it must be answered."""
        return self.pace.writing_ms(self.settings) / 1000

    def tokens(self, usage: Usage) -> int:
        """How long the prompt was that the engine used, as estimated."""
        return self.prompts[min(usage.rung, len(self.prompts) - 1)].tokens

    def asked(self) -> Infill:
        """The request of somebody who waits."""
        full, *shorter = (prompt.around for prompt in self.prompts)
        ghost, pace, settings = self.ghost, self.pace, self.settings
        sampling = Sampling(
            n_predict=pace.n_predict(settings),
            # in the middle of a line nothing below it is of use
            stop=("\n",) if ghost.mode == "line" and ghost.line_suffix.strip() and not may_break(ghost) else (),
            t_max_predict_ms=pace.lines_ms(settings),
            confidence=self.confidence,
            expected=self.expected,
            unbound=self.unbound,
        )
        budget = pace.budget_ms(settings) if shorter else 0
        return Infill(full, sampling=sampling, owner=self._owner, shorter=tuple(shorter), budget_ms=budget)

    def foreseen(self) -> Infill:
        """The request that nobody waits for: the full prompt, however long that takes."""
        asked = self.asked()
        patient = replace(asked.sampling, t_max_predict_ms=0)
        return replace(asked, sampling=patient, priority="background", shorter=(), budget_ms=0)

    def read(self, prompts: Sequence[InfillPrompt]) -> list[Infill]:
        """The requests that only have these prompts evaluated."""
        nothing = Sampling(n_predict=0)
        return [Infill(each.around, sampling=nothing, priority="background", owner=self._owner) for each in prompts]

    @property
    def _owner(self) -> Owner:
        site = self.site
        return Owner(persist=site.persist and not secret_lines(site.document), affinity=site.document.uri)


class Questions:
    """Makes them, at the engine's pace."""

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        restraint: Restraint | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._engine = engine
        self._elsewhere = elsewhere
        self.settings = settings
        self._restraint = restraint or Restraint()
        self._pacer = Pacer(engine)
        self._outlines = Outlines()

    async def pace(self) -> Pace:
        """The engine's, as far as it is known."""
        return await self._pacer.now()

    async def about(self, site: Site, *, rests: bool = False) -> Question:
        """The question of one place, at which the user `rests` or is typing."""
        pace, settings = await self.pace(), self.settings
        repository = await self._repository(site, rests=rests)
        prompts = await ladder(
            site.document,
            site.tree,
            site.offset,
            site.path,
            settings,
            pace.affordable(settings),
            self._engine.count,
            self._outlines,
            repository,
        )
        confidence = self._restraint.settings.min_probability > 0
        expected = self._elsewhere.expected(site.document.uri) if repository and self._elsewhere else ()
        missing = bindings(site.tree, site.offset) if site.tree else ()
        return Question(site, site.ghost(), prompts, pace, settings, confidence, expected, missing)

    def forget(self, uri: str) -> None:
        """The document is closed."""
        if self._elsewhere:
            self._elsewhere.forget(uri)

    async def _repository(self, site: Site, *, rests: bool) -> Sequence[Fragment]:
        if self._elsewhere is None:
            return ()
        place = (site.document, site.tree, site.offset, site.path)
        return await self._elsewhere.of(*place, self.settings.repository_tokens, rests=rests)
