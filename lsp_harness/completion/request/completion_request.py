"""What a completion asks the model about a place: the prompts this machine can afford, and the limits of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.completion.rules.ghost_text import Ghost, ghost_at
from lsp_harness.completion.rules.next_line import may_break
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.infill_prompt import InfillPrompt, build_prompt_ladder
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.context.sources.outline_cache import OutlineCache
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.pace import Pace, Pacer
from lsp_harness.inference.request import Infill, Owner, Sampling, Usage
from lsp_harness.syntax.names.unbound_names import bindings
from lsp_harness.workspace.cursor import Cursor


@dataclass(frozen=True, slots=True)
class Question:
    """All that is known before a model is asked: the prompts, longest first, and what decides the answer."""

    cursor: Cursor
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
        about = (self.ghost.suffix, full.outline.text, elsewhere, self.ghost.language, self.cursor.path, *limits)
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
        full, *shorter = (prompt.engine_input for prompt in self.prompts)
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
        return [
            Infill(each.engine_input, sampling=nothing, priority="background", owner=self._owner) for each in prompts
        ]

    @property
    def _owner(self) -> Owner:
        cursor = self.cursor
        return Owner(persist=cursor.persist and not secret_lines(cursor.document), affinity=cursor.document.uri)


class Questions:
    """Makes them, at the engine's pace."""

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        quiet: Quiet | None = None,
        elsewhere: RepositoryContext | None = None,
    ) -> None:
        self._engine = engine
        self._elsewhere = elsewhere
        self.settings = settings
        self.quiet = quiet or Quiet()
        self._pacer = Pacer(engine)
        self._outlines = OutlineCache()

    async def pace(self) -> Pace:
        """The engine's, as far as it is known."""
        return await self._pacer.now()

    async def about(self, cursor: Cursor, *, rests: bool = False) -> Question:
        """The question of one place, at which the user `rests` or is typing."""
        pace, settings = await self.pace(), self.settings
        repository = await self._repository(cursor, rests=rests)
        prompts = await build_prompt_ladder(
            cursor,
            settings,
            pace.affordable(settings),
            self._engine.count,
            self._outlines,
            repository,
        )
        confidence = self.quiet.min_probability > 0
        expected = self._elsewhere.expected_names(cursor.document.uri) if repository and self._elsewhere else ()
        missing = bindings(cursor.tree, cursor.offset) if cursor.tree else ()
        return Question(cursor, ghost_at(cursor), prompts, pace, settings, confidence, expected, missing)

    def forget(self, uri: str) -> None:
        """The document is closed."""
        if self._elsewhere:
            self._elsewhere.forget(uri)

    async def _repository(self, cursor: Cursor, *, rests: bool) -> Sequence[Fragment]:
        if self._elsewhere is None:
            return ()
        return await self._elsewhere.find_fragments(cursor, self.settings.repository_tokens, is_resting=rests)
