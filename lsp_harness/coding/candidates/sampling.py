"""The requests for candidates and for fills of a hole, and the candidates that the answers become."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_prompt import count_hole_marks, fit_infill
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.shaping import shape_ghost
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.infill_prompt import InfillPrompt, build_infill_prompt
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.inference.client import Engine
from lsp_harness.inference.dialect import MAX_CANDIDATES
from lsp_harness.inference.prompt_ceilings import PromptLimit, PromptName, PromptTooLongError
from lsp_harness.inference.request import Chunk, Infill, InfillContext, ModelRequest, Props, Sampling, Usage
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.process.offload import offload
from lsp_harness.syntax.tree import parse
from lsp_harness.text.code_lines import indentation_of
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.change import Author
from lsp_harness.workspace.cursor import Cursor

CandidateKind = str
"""How a candidate was made, as a user reads it. The model writes "fill", "hinted fill", "import", "plain import" and
"rewrite". The kinds of `coding.repair` need no model."""

DEFAULT_SAMPLES = 2
"""Samples beside the most likely text."""
MODEL_COST = 9.0
"""The cost of a text that the model wrote. It is higher than the cost of any repair."""


@dataclass(frozen=True, slots=True)
class CandidatePlan:
    """A number of candidates to generate from one prompt, with the settings of sampling.

    Attributes:
        kind: How the candidates are made.
        temperature: The temperature of sampling. 0 is the most likely text.
        seed: The seed of the first candidate. Each other candidate has the next one.
        numbers: The numbers of the candidates in their turn.
        greedy_first: Whether the first candidate is the most likely text, whatever the temperature.
    """

    kind: CandidateKind
    temperature: float
    seed: int
    numbers: tuple[int, ...]
    greedy_first: bool = field(default=False, kw_only=True)

    def create_sampling(self, candidates: Sequence[int], **options: Any) -> Sampling:
        """Return the sampling of a request for some of the candidates, with further settings as `options`."""
        return Sampling(
            temperature=self.temperature,
            seed=self.seed,
            n=len(candidates),
            greedy_first=self.greedy_first,
            **options,
        )


def plan_samples(
    kind: CandidateKind, temperature: float, props: Props, sample_count: int = DEFAULT_SAMPLES
) -> list[CandidatePlan]:
    """Return plans for the most likely text and for some samples at a temperature.

    They are one request if the engine can do that and takes so many candidates at once. Two requests begin a little
    apart, and how much decides which tokens are evaluated in the same step. A step over other tokens rounds
    differently, so the samples may become others.
    """
    first, *others = numbers = tuple(range(1, 2 + sample_count))
    if props.features.get("greedy_first") and 1 < len(numbers) <= MAX_CANDIDATES:
        return [CandidatePlan(kind, temperature, 0, numbers, greedy_first=True)]
    plans = [CandidatePlan(kind, 0.0, 0, (first,)), CandidatePlan(kind, temperature, 1, tuple(others))]
    return plans if others else plans[:1]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible edit, before it is checked.

    Attributes:
        number: Its number in the turn, from 1.
        plan: The plan that it belongs to.
        edits: The edits of the document. There are none if the answer was not usable.
        usage: The tokens that it cost.
        author: Who made it, which decides how much it may change.
        cost: Orders repairs without a model. The most likely one costs least.
    """

    number: int
    plan: CandidatePlan
    edits: tuple[Edit, ...]
    usage: Usage
    author: Author = "repair"
    cost: float = MODEL_COST

    @property
    def seed(self) -> int:
        """The seed of sampling."""
        return self.plan.seed + self.plan.numbers.index(self.number)

    @property
    def temperature(self) -> float:
        """The temperature of sampling."""
        return 0.0 if self.plan.greedy_first and self.number == self.plan.numbers[0] else self.plan.temperature


class CandidateRequest(NamedTuple):
    """A request to the model, and a function that turns an answer into an edit, or into None if it is not usable."""

    request: ModelRequest
    parse_edit: Callable[[str], Edit | None]


async def generate_candidates(
    engine: Engine, plan: CandidatePlan, request: CandidateRequest, on_evaluated: Callable[[], None]
) -> AsyncGenerator[Candidate]:
    """Yield the candidates of a plan in the order in which they are complete. Closing the generator ends the others.

    Args:
        engine: The client of the model.
        plan: The candidates to generate.
        request: The request. Its sampling may have room for fewer candidates than the plan.
        on_evaluated: Called when the prompt is evaluated.
    """
    texts = [""] * request.request.sampling.n
    open_indexes = set(range(len(texts)))

    def create(index: int, text: str, usage: Usage) -> Candidate:
        edit = request.parse_edit(text)
        return Candidate(plan.numbers[index], plan, (edit,) if edit else (), usage)

    async with aclosing(cast("Any", engine.stream(request.request))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            on_evaluated()
            if chunk.index not in open_indexes:
                continue
            texts[chunk.index] += chunk.text
            if chunk.stop:
                open_indexes.discard(chunk.index)
                yield create(chunk.index, texts[chunk.index], chunk.usage)
            if not open_indexes:
                break
    # a server may return fewer candidates than were requested
    for index in sorted(open_indexes):
        yield create(index, "", Usage())


class InfillHole(NamedTuple):
    """The code before and after a hole that the model fills, and the candidates that fit into its context."""

    around: InfillContext
    candidates: Sequence[int]


async def build_hole(
    context: TurnContext, name: PromptName, span: Span, frame: tuple[str, str], plan: CandidatePlan, answer: int
) -> InfillHole:
    """Replace a span by a hole and return the prompt around it. Record what the prompt costs.

    Args:
        context: The document and the tools.
        name: The prompt, which has a ceiling.
        span: The code that is taken out.
        frame: The text directly before the hole and the text directly behind it, which replace the span.
        plan: The candidates that will fill the hole.
        answer: The tokens to reserve for each answer.

    Raises:
        NoAnswer: The prompt is above its ceiling, or the model's context has no room for it and one answer.
    """
    document, (start, end), (lead, tail) = context.document, span, frame
    data = document.data[:start] + encode(lead + tail) + document.data[end:]
    text = Document.from_text(document.uri, data, language=document.language)
    offset = start + len(encode(lead))
    tree, settings = await offload(len(text.data), lambda: parse(text)), context.config.completion
    prompt = await build_infill_prompt(Cursor(text, tree, offset, context.path), settings, context.engine.count)
    props = await context.engine.props()
    # code of other files gets the tokens that are left
    room = props.n_ctx - prompt.tokens - count_hole_marks(props) - answer if props.n_ctx else settings.repository_tokens
    if context.workspace and room > 0:
        # The fragments are those of a completion here, but without recent edits. They are chosen for the text without
        # the frame and without a time limit, so that all prompts about this place begin alike and are evaluated once.
        repository = RepositoryContext(context.workspace.index, context.engine.count, timeout_s=math.inf)
        bare = Document.from_text(document.uri, document.data[:start] + document.data[end:], language=document.language)
        bare_tree = await offload(len(bare.data), lambda: parse(bare))
        bare_cursor = Cursor(bare, bare_tree, start, context.path)
        fragments = await repository.find_fragments(bare_cursor, min(room, settings.repository_tokens))
        prompt = replace(prompt, repository=fragments)
    limit = PromptLimit.of(name, context.config)

    async def fit(prompt: InfillPrompt) -> InfillHole:
        around = prompt.engine_input
        sizes = (prompt.sections, limit, answer)
        return InfillHole(around, await fit_infill(context.engine, around, *sizes, context.turn, plan.numbers))

    try:
        return await fit(prompt)
    except PromptTooLongError:
        # the names of files have no budget: without other files and the outline there are none
        return await fit(replace(prompt, outline=Fragment("", 0, "", ""), repository=()))


def reindent(new: str, old: str) -> str:
    """Return `new` with the indentation of the first line of `old`. Models often begin at the margin."""
    new_indent, old_indent = indentation_of(new), indentation_of(old)
    if new_indent == old_indent:
        return new
    return "\n".join(old_indent + line.removeprefix(new_indent) if line.strip() else line for line in new.split("\n"))


@dataclass(frozen=True, slots=True)
class HoleFill:
    """A request to fill a hole.

    Attributes:
        request: The request.
        ghost: The hole, without a text in it.
    """

    request: Infill
    ghost: Ghost

    def read(self, answer: str) -> str:
        """Return the part of an answer that belongs into the hole. It may be empty."""
        return shape_ghost(self.ghost.with_text(answer)).text or ""


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole in a document.

    Attributes:
        span: The code that the hole replaces.
        lead: The text directly before the hole.
        tail: The text directly behind the hole.
        line_count: The number of lines of an answer.
    """

    span: Span
    lead: str = ""
    tail: str = ""
    line_count: int = 1


async def build_fill(
    context: TurnContext, name: PromptName, language: LanguageSpec, hole: Hole, plan: CandidatePlan, max_tokens: int
) -> HoleFill:
    """Return the request to fill a hole. Record what its prompt costs.

    Args:
        context: The document and the tools.
        name: The prompt, which has a ceiling.
        language: The language of the document.
        hole: The hole to fill.
        plan: The candidates to generate.
        max_tokens: Most tokens of an answer of any number of lines.

    Raises:
        NoAnswer: The prompt is above its ceiling, or the model's context has no room for it and one answer.
    """
    answer_tokens = min(context.config.completion.max_tokens * hole.line_count, max_tokens)
    around, candidates = await build_hole(context, name, hole.span, (hole.lead, hole.tail), plan, answer_tokens)
    is_line = hole.line_count == 1
    stop = ("\n",) if is_line else ("\n\n",)
    sampling = plan.create_sampling(candidates, n_predict=answer_tokens, stop=stop)
    mode = "line" if is_line else "block"
    ghost = Ghost(around.prefix, around.suffix, "", mode, language.id, context.document.newline)
    return HoleFill(Infill(around, sampling=sampling, priority="normal", owner=context.owner), ghost)
