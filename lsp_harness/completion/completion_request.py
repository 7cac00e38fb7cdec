"""The request of one completion: the prompts that this machine can afford, and the limits of the answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lsp_harness.completion.rules.ghost_text import Ghost, find_ghost, may_begin_with_newline
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.infill_prompt import InfillPrompt, build_prompt_ladder
from lsp_harness.context.lookup.outline_cache import OutlineCache
from lsp_harness.context.repository_context import RepositoryChoice, RepositoryContext
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.pace import Pace, PaceMonitor
from lsp_harness.inference.request import Infill, InfillContext, Owner, Sampling, Usage
from lsp_harness.syntax.names.unbound_names import NO_NAMES, MissingNames, find_missing_names
from lsp_harness.workspace.cursor import Cursor

Effort = Literal["quick", "patient", "complete"]
"""How long the user waits for the evaluation of a prompt.

`quick` takes at most `completion.latency_ms`, `patient` at most `completion.patience_ms`, and `complete` as long as the
full prompt needs, because the user asked for it.
"""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The cursor, the prompts and the settings of one completion, before the engine is asked.

    Attributes:
        cursor: The place of the cursor in the text.
        ghost: The text around the cursor.
        prompts: The prompts for the cursor, the longest first.
        pace: The speed of this machine.
        settings: The settings of completion.
        needs_confidence: Whether the probabilities of the tokens are needed.
        expected_names: Names that are likely here, as the index knows.
        missing_names: Names that the code below uses and nothing binds. They are no part of `cache_key`: an answer
            stays valid while the user types such a name.
    """

    cursor: Cursor
    ghost: Ghost
    prompts: tuple[InfillPrompt, ...]
    pace: Pace
    settings: Completion
    needs_confidence: bool
    expected_names: tuple[str, ...] = ()
    missing_names: MissingNames = NO_NAMES

    @property
    def cache_key(self) -> tuple[str, tuple[object, ...]]:
        """The text before the cursor, and everything else that decides the answer."""
        settings, full_prompt = self.settings, self.prompts[0]
        limits = (settings.prefix_tokens, settings.suffix_tokens, settings.max_tokens, settings.max_lines)
        repository = (*(fragment.text for fragment in full_prompt.repository), *self.expected_names)
        inputs = (
            self.ghost.suffix,
            full_prompt.outline.text,
            repository,
            self.ghost.language,
            self.cursor.path,
            *limits,
        )
        return self.ghost.prefix, inputs

    def timeout_s(self, effort: Effort) -> float:
        """Return the time limit of the answer, counted from its first token."""
        return math.inf if effort == "complete" else self.pace.generation_limit_ms(self.settings) / 1000

    def prompt_tokens(self, usage: Usage) -> int:
        """Return the estimated length of the prompt that the engine used."""
        return self.prompts[min(usage.rung, len(self.prompts) - 1)].tokens

    def urgent_infill(self, effort: Effort) -> Infill:
        """Return the request for a user who waits."""
        full_prompt, *shorter_prompts = (prompt.engine_input for prompt in self.prompts)
        ghost, pace, settings = self.ghost, self.pace, self.settings
        is_complete = effort == "complete"
        sampling = Sampling(
            n_predict=settings.max_tokens if is_complete else pace.n_predict(settings),
            # in the middle of a line, text below the line is useless
            stop=("\n",)
            if ghost.mode == "line" and ghost.line_suffix.strip() and not may_begin_with_newline(ghost)
            else (),
            t_max_predict_ms=0 if is_complete else pace.line_end_limit_ms(settings),
            confidence=self.needs_confidence,
            expected=self.expected_names,
            unbound=self.missing_names.bindings,
        )
        if is_complete or not shorter_prompts:
            return Infill(full_prompt, sampling=sampling, owner=self._owner)
        budget_ms = float(settings.patience_ms) if effort == "patient" else pace.budget_ms(settings)
        return Infill(
            full_prompt, sampling=sampling, owner=self._owner, shorter=tuple(shorter_prompts), budget_ms=budget_ms
        )

    def infill_after(self, start: str, effort: Effort) -> Infill:
        """Return the request for the rest of an answer whose start is given."""
        infill = self.urgent_infill(effort)
        return replace(
            infill,
            context=_append(infill.context, start),
            shorter=tuple(_append(context, start) for context in infill.shorter),
            sampling=replace(infill.sampling, unbound=()),
        )

    def background_infill(self) -> Infill:
        """Return the request that nobody waits for: the full prompt, with no limit of time."""
        infill = self.urgent_infill("quick")
        sampling = replace(infill.sampling, t_max_predict_ms=0)
        return replace(infill, sampling=sampling, priority="background", shorter=(), budget_ms=0)

    def evaluation_infills(self, prompts: Sequence[InfillPrompt]) -> list[Infill]:
        """Return requests that only evaluate these prompts, so that a later request finds them in the KV cache."""
        nothing = Sampling(n_predict=0)
        return [
            Infill(prompt.engine_input, sampling=nothing, priority="background", owner=self._owner)
            for prompt in prompts
        ]

    @property
    def _owner(self) -> Owner:
        cursor = self.cursor
        return Owner(persist=cursor.persist and not find_secret_lines(cursor.document), affinity=cursor.document.uri)


class RequestBuilder:
    """Builds the requests of one client, with prompts that its engine can evaluate within the time limit of the user.

    Args:
        engine: Counts tokens and reports its speed.
        settings: The settings of completion.
        quiet: When suggestions are hidden. If unlikely ones are hidden, the engine must report probabilities.
        repository: The code of other files. None leaves it out.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Completion,
        quiet: Quiet | None = None,
        repository: RepositoryContext | None = None,
    ) -> None:
        self._engine = engine
        self._repository = repository
        self.settings = settings
        self.quiet = quiet or Quiet()
        self._pacer = PaceMonitor(engine)
        self._outlines = OutlineCache()

    async def pace(self) -> Pace:
        """Return the speed of the engine, or the last known speed while the engine does not answer."""
        return await self._pacer.current()

    async def build(self, cursor: Cursor, choice: RepositoryChoice, *, is_resting: bool = False) -> CompletionRequest:
        """Return the request for one place.

        Args:
            cursor: The place of the cursor in the text.
            choice: The code of other files that was chosen last for the document. It is updated.
            is_resting: Whether the user does not type. Then a better choice of other files' code may replace the old.
        """
        pace, settings = await self.pace(), self.settings
        fragments: Sequence[Fragment] = ()
        if self._repository:
            budget = settings.repository_tokens
            fragments = await self._repository.find_fragments(cursor, budget, choice, is_resting=is_resting)
        prompts = await build_prompt_ladder(
            cursor,
            settings,
            pace.prompt_token_limit(settings),
            self._engine.count,
            self._outlines,
            fragments,
        )
        needs_confidence = self.quiet.min_probability > 0 or len(prompts) > 1
        expected_names = choice.expected_names if fragments else ()
        missing_names = find_missing_names(cursor.tree, cursor.offset) if cursor.tree else NO_NAMES
        return CompletionRequest(
            cursor,
            _read_ghost(cursor, missing_names),
            prompts,
            pace,
            settings,
            needs_confidence,
            expected_names,
            missing_names,
        )


def _append(context: InfillContext, start: str) -> InfillContext:
    return replace(context, prefix=context.prefix + start)


def _read_ghost(cursor: Cursor, missing: MissingNames) -> Ghost:
    """Return the surroundings of a cursor. If several parameters are missing, they may be on lines of their own."""
    ghost = find_ghost(cursor)
    return replace(ghost, mode="block") if missing.place == "parameter" and len(missing.names) > 1 else ghost
